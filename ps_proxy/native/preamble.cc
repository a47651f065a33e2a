#include "ps_proxy/native/preamble.h"

#include <algorithm>

#include "dataplane/base/byte_reader.h"
#include "dataplane/base/byte_writer.h"

namespace tictac::native {
namespace {

constexpr uint32_t kTooLargeBit = 0x80000000;
constexpr uint64_t kStep = 4096;

}  // namespace

ByteSpan encode(const FetchPreamble& preamble, std::array<uint8_t, kMostFetchPreamble>& buffer) {
  ByteWriter out(buffer);
  out.u8(kFetchKind);
  out.varint(preamble.room);
  out.bytes({reinterpret_cast<const uint8_t*>(preamble.name.data()), preamble.name.size()});
  return ByteSpan(buffer).first(out.size());
}

std::optional<FetchPreamble> decode_fetch(ByteSpan bytes) {
  ByteReader in(bytes);
  const uint8_t kind = in.u8();
  const uint64_t room = in.varint();
  const ByteSpan name = in.rest();
  if (!in.ok() || kind != kFetchKind || name.empty() || name.size() > TICTAC_MAX_NAME) return std::nullopt;
  if (std::find(name.begin(), name.end(), 0) != name.end()) return std::nullopt;
  return FetchPreamble{room, {reinterpret_cast<const char*>(name.data()), name.size()}};
}

uint32_t code_of(tictac_status status) { return static_cast<uint32_t>(status); }

uint32_t code_of_too_large(uint64_t size) {
  const uint64_t steps = size / kStep + (size % kStep != 0 ? 1 : 0);
  return kTooLargeBit | static_cast<uint32_t>(std::min<uint64_t>(steps, kTooLargeBit - 1));
}

FetchEnd end_of_code(uint32_t code) {
  if (code & kTooLargeBit) return {TICTAC_BUFFER_SMALL, (code & ~kTooLargeBit) * kStep};
  switch (code) {
    case TICTAC_CANCELLED:
    case TICTAC_DECLINED:
    case TICTAC_APP_GONE:
    case TICTAC_PARKED_FULL:
    case TICTAC_FULL:
      return {static_cast<tictac_status>(code), 0};
    default:
      return {TICTAC_PROTOCOL, 0};
  }
}

}  // namespace tictac::native
