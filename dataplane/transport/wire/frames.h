#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dataplane/base/byte_reader.h"
#include "dataplane/base/byte_writer.h"
#include "dataplane/base/types.h"
#include "dataplane/sched/transfer_node.h"

// The frames of a datagram, see README.md. read() starts after the type byte and returns false on anything
// that no sender of this version writes; what a frame points at is borrowed from the datagram. write() writes
// the type byte too and returns false, with the writer failed, when it does not fit.
namespace tictac::wire {

enum class FrameType : uint8_t {
  kPadding = 0,
  kPing = 1,
  kAck = 2,
  kMaxData = 3,
  kMaxStreamData = 4,
  kOpen = 5,
  kStream = 6,
  kReset = 7,
  kStopSending = 8,
  kRerank = 9,
  kClose = 10,
  kHello = 11,
  kLeastAwaited = 12,
};

// Numbers [first, last], both inside.
struct NumberRange {
  uint64_t first = 0;
  uint64_t last = 0;
};

// Reads and writes acknowledged ranges, newest first, without storing them.
class AckFrame {
 public:
  static bool read(ByteReader& in, AckFrame* frame);
  // `next(range)` gives the ranges downwards and returns false after the last. Writes as many as fit into
  // `room` bytes, the first one at least; false when not even that fits.
  template <typename NextRange>
  static bool write(ByteWriter& out, size_t room, uint32_t delay_us, NextRange next);

  uint32_t delay_us() const { return delay_us_; }
  uint64_t largest() const { return largest_; }
  // Calls visit(NumberRange) for each range, newest first.
  template <typename Visit>
  void for_each(Visit visit) const;

 private:
  static bool skip_ranges(ByteReader& in, uint64_t count, uint64_t lowest);

  uint64_t largest_ = 0;
  uint32_t delay_us_ = 0;
  uint64_t further_ = 0;
  uint64_t first_length_ = 0;
  ByteSpan ranges_;
};

struct MaxDataFrame {
  uint64_t limit = 0;
};
struct MaxStreamDataFrame {
  uint64_t stream = 0;
  uint64_t limit = 0;
};
struct OpenFrame {
  uint64_t stream = 0;
  uint32_t rank = 0;
  uint64_t version = 0;
  TransferClass request_class = TransferClass::kControl;
  TransferClass answer_class = TransferClass::kRanked;
  bool request_is_empty = false;
  uint64_t answer_limit = 0;  // bytes of the answer that may be sent at once
  std::string_view job;
  ByteSpan preamble;
};
struct StreamFrame {
  uint64_t stream = 0;
  uint64_t offset = 0;
  uint32_t accept_time_us = 0;
  bool end = false;
  ByteSpan bytes;
};
struct ResetFrame {
  uint64_t stream = 0;
  uint64_t final_size = 0;
  uint32_t code = 0;
};
struct StopSendingFrame {
  uint64_t stream = 0;
  uint32_t code = 0;
};
struct RerankFrame {
  uint64_t stream = 0;
  uint32_t rank = 0;
  uint64_t version = 0;
};
struct CloseFrame {
  uint32_t code = 0;
};
struct HelloFrame {
  uint8_t lowest_version = 0;
  uint8_t highest_version = 0;
  uint32_t features = 0;
  uint64_t incarnation = 0;
  uint64_t echoed_incarnation = 0;
  uint32_t session = 0;  // that the sender chose
  uint16_t max_datagram = 0;
  std::string_view name;
};
// Every packet below `number` was acknowledged or given up: the receiver need not report those again.
struct LeastAwaitedFrame {
  uint64_t number = 0;
};

bool read(ByteReader& in, MaxDataFrame* frame);
bool read(ByteReader& in, MaxStreamDataFrame* frame);
bool read(ByteReader& in, OpenFrame* frame);
bool read(ByteReader& in, StreamFrame* frame);
bool read(ByteReader& in, ResetFrame* frame);
bool read(ByteReader& in, StopSendingFrame* frame);
bool read(ByteReader& in, RerankFrame* frame);
bool read(ByteReader& in, CloseFrame* frame);
bool read(ByteReader& in, HelloFrame* frame);
bool read(ByteReader& in, LeastAwaitedFrame* frame);

bool write(ByteWriter& out, const MaxDataFrame& frame);
bool write(ByteWriter& out, const MaxStreamDataFrame& frame);
bool write(ByteWriter& out, const OpenFrame& frame);
bool write(ByteWriter& out, const ResetFrame& frame);
bool write(ByteWriter& out, const StopSendingFrame& frame);
bool write(ByteWriter& out, const RerankFrame& frame);
bool write(ByteWriter& out, const CloseFrame& frame);
bool write(ByteWriter& out, const HelloFrame& frame);
bool write(ByteWriter& out, const LeastAwaitedFrame& frame);

// Bytes that a STREAM frame takes besides its payload.
size_t stream_overhead(uint64_t stream, uint64_t offset);
// Writes a STREAM frame of `length` payload bytes and returns where the caller puts them; empty when it does
// not fit or length is 0.
MutableByteSpan write_stream(ByteWriter& out, const StreamFrame& frame, uint16_t length);

template <typename NextRange>
bool AckFrame::write(ByteWriter& out, size_t room, uint32_t delay_us, NextRange next) {
  constexpr size_t kMostPerRange = 16;
  NumberRange range;
  if (!next(&range) || room < 1 + 8 + 8 + 2 + 8) return false;
  const size_t end = out.size() + room;
  out.u8(static_cast<uint8_t>(FrameType::kAck));
  out.varint(range.last);
  out.varint(delay_us);
  const MutableByteSpan count_field = out.reserve(2);
  out.varint(range.last - range.first);
  uint64_t lowest = range.first;
  uint16_t further = 0;
  while (further < 0xffff && out.size() + kMostPerRange <= end && next(&range)) {
    out.varint(lowest - range.last - 2);
    out.varint(range.last - range.first);
    lowest = range.first;
    ++further;
  }
  if (!out.ok()) return false;
  ByteWriter(count_field).u16(further);
  return true;
}

template <typename Visit>
void AckFrame::for_each(Visit visit) const {
  NumberRange range{largest_ - first_length_, largest_};
  visit(range);
  ByteReader in(ranges_);
  for (uint64_t i = 0; i < further_; ++i) {
    range.last = range.first - in.varint() - 2;
    range.first = range.last - in.varint();
    visit(range);
  }
}

}  // namespace tictac::wire
