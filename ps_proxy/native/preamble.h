#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dataplane/base/types.h"
#include "dataplane/transport/endpoint.h"
#include "ps_proxy/client/tictac.h"

namespace tictac::native {

// What a stream of the native gateway says in its OPEN: u8 kind, then for a fetch: varint room in the
// requester's buffer, and the name (the rest).
struct FetchPreamble {
  uint64_t room = 0;
  std::string_view name;
};
inline constexpr uint8_t kFetchKind = 1;
inline constexpr size_t kMostFetchPreamble = 1 + 8 + TICTAC_MAX_NAME;
static_assert(kMostFetchPreamble <= kMaxPreamble);

// The bytes, in `buffer`. The name has at most TICTAC_MAX_NAME bytes.
ByteSpan encode(const FetchPreamble& preamble, std::array<uint8_t, kMostFetchPreamble>& buffer);
// None when the bytes are no fetch. The name borrows from them.
std::optional<FetchPreamble> decode_fetch(ByteSpan bytes);

// Why a stream was cancelled, in its 32-bit code: a tictac_status, or with the highest bit the size that did
// not fit, in steps of 4 KiB.
uint32_t code_of(tictac_status status);
uint32_t code_of_too_large(uint64_t size);

struct FetchEnd {
  tictac_status status = TICTAC_OK;
  uint64_t size = 0;  // for TICTAC_BUFFER_SMALL: a size that is enough
};
// Never TICTAC_OK: an unknown code is a protocol error.
FetchEnd end_of_code(uint32_t code);

}  // namespace tictac::native
