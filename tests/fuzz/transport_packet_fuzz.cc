// A datagram, frame by frame: what can be read is written again, and that must read back to the same bytes.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dataplane/transport/wire/frames.h"
#include "dataplane/transport/wire/header.h"

using namespace tictac;
using namespace tictac::wire;

namespace {

std::array<uint8_t, 1 << 17> once;
std::array<uint8_t, 1 << 17> twice;

bool put(ByteWriter& out, const StreamFrame& frame) {
  const MutableByteSpan room = write_stream(out, frame, static_cast<uint16_t>(frame.bytes.size()));
  std::memcpy(room.data(), frame.bytes.data(), room.size());
  return out.ok();
}

bool put(ByteWriter& out, const AckFrame& frame) {
  std::vector<NumberRange> ranges;
  frame.for_each([&](const NumberRange& range) {
    if (range.last > frame.largest() || range.first > range.last) __builtin_trap();
    ranges.push_back(range);
  });
  size_t next = 0;
  return AckFrame::write(out, out.remaining(), frame.delay_us(), [&](NumberRange* range) {
    if (next == ranges.size()) return false;
    *range = ranges[next++];
    return true;
  });
}

template <typename Frame>
bool put(ByteWriter& out, const Frame& frame) {
  return write(out, frame);
}

bool take(ByteReader& in, AckFrame* frame) { return AckFrame::read(in, frame); }

template <typename Frame>
bool take(ByteReader& in, Frame* frame) {
  return read(in, frame);
}

template <typename Frame>
bool check(ByteReader& in) {
  Frame frame;
  if (!take(in, &frame)) return false;
  ByteWriter first(once);
  ByteWriter second(twice);
  Frame again;
  if (!put(first, frame)) __builtin_trap();
  ByteReader back(first.written().subspan(1));
  if (!take(back, &again) || back.remaining() != 0 || !put(second, again)) __builtin_trap();
  if (first.size() != second.size() || std::memcmp(once.data(), twice.data(), first.size()) != 0)
    __builtin_trap();
  return true;
}

bool check_next(ByteReader& in) {
  switch (static_cast<FrameType>(in.u8())) {
    case FrameType::kPadding:
    case FrameType::kPing:
      return true;
    case FrameType::kAck:
      return check<AckFrame>(in);
    case FrameType::kMaxData:
      return check<MaxDataFrame>(in);
    case FrameType::kMaxStreamData:
      return check<MaxStreamDataFrame>(in);
    case FrameType::kOpen:
      return check<OpenFrame>(in);
    case FrameType::kStream:
      return check<StreamFrame>(in);
    case FrameType::kReset:
      return check<ResetFrame>(in);
    case FrameType::kStopSending:
      return check<StopSendingFrame>(in);
    case FrameType::kRerank:
      return check<RerankFrame>(in);
    case FrameType::kClose:
      return check<CloseFrame>(in);
    case FrameType::kHello:
      return check<HelloFrame>(in);
    case FrameType::kLeastAwaited:
      return check<LeastAwaitedFrame>(in);
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 65'535) return 0;
  const ByteSpan datagram(data, size);
  Header header;
  if (parse_header(datagram, &header) == HeaderResult::kOk) {
    std::vector<uint8_t> copy(data, data + size);
    seal(copy, header);
    if (!checksum_matches(copy)) __builtin_trap();
  }
  ByteReader in(datagram.subspan(size < kHeaderSize ? 0 : kHeaderSize));
  while (in.remaining() > 0 && check_next(in)) {
  }
  return 0;
}
