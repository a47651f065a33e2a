#include "dataplane/transport/wire/frames.h"

#include <limits>

namespace tictac::wire {
namespace {

std::string_view text(ByteSpan bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

ByteSpan bytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

void put(ByteWriter& out, FrameType type) { out.u8(static_cast<uint8_t>(type)); }

bool to_u32(uint64_t value, uint32_t* out) {
  *out = static_cast<uint32_t>(value);
  return value <= std::numeric_limits<uint32_t>::max();
}

bool to_class(uint8_t value, TransferClass* out) {
  *out = static_cast<TransferClass>(value);
  return value <= static_cast<uint8_t>(TransferClass::kBulk);
}

constexpr uint8_t kRequestIsEmpty = 1;

}  // namespace

bool AckFrame::skip_ranges(ByteReader& in, uint64_t count, uint64_t lowest) {
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const uint64_t gap = in.varint();
    if (gap > lowest || lowest - gap < 2) return false;
    const uint64_t last = lowest - gap - 2;
    const uint64_t length = in.varint();
    if (length > last) return false;
    lowest = last - length;
  }
  return in.ok();
}

bool AckFrame::read(ByteReader& in, AckFrame* frame) {
  frame->largest_ = in.varint();
  if (!to_u32(in.varint(), &frame->delay_us_)) return false;
  frame->further_ = in.u16();
  frame->first_length_ = in.varint();
  if (!in.ok() || frame->first_length_ > frame->largest_) return false;
  const ByteSpan start = in.rest();
  if (!skip_ranges(in, frame->further_, frame->largest_ - frame->first_length_)) return false;
  frame->ranges_ = start.first(start.size() - in.remaining());
  return true;
}

bool read(ByteReader& in, MaxDataFrame* frame) {
  frame->limit = in.varint();
  return in.ok();
}

bool read(ByteReader& in, MaxStreamDataFrame* frame) {
  frame->stream = in.varint();
  frame->limit = in.varint();
  return in.ok();
}

bool read(ByteReader& in, OpenFrame* frame) {
  frame->stream = in.varint();
  if (!to_u32(in.varint(), &frame->rank)) return false;
  frame->version = in.varint();
  if (!to_class(in.u8(), &frame->request_class) || !to_class(in.u8(), &frame->answer_class)) return false;
  frame->request_is_empty = (in.u8() & kRequestIsEmpty) != 0;
  frame->answer_limit = in.varint();
  frame->job = text(in.take(in.u8()));
  frame->preamble = in.take(in.u16());
  return in.ok();
}

bool read(ByteReader& in, StreamFrame* frame) {
  frame->stream = in.varint();
  frame->offset = in.varint();
  frame->accept_time_us = in.u32();
  const uint8_t end = in.u8();
  frame->end = end == 1;
  frame->bytes = in.take(in.u16());
  return in.ok() && end <= 1 && frame->offset + frame->bytes.size() <= kMaxVarint;
}

bool read(ByteReader& in, ResetFrame* frame) {
  frame->stream = in.varint();
  frame->final_size = in.varint();
  return to_u32(in.varint(), &frame->code) && in.ok();
}

bool read(ByteReader& in, StopSendingFrame* frame) {
  frame->stream = in.varint();
  return to_u32(in.varint(), &frame->code) && in.ok();
}

bool read(ByteReader& in, RerankFrame* frame) {
  frame->stream = in.varint();
  if (!to_u32(in.varint(), &frame->rank)) return false;
  frame->version = in.varint();
  return in.ok();
}

bool read(ByteReader& in, CloseFrame* frame) { return to_u32(in.varint(), &frame->code) && in.ok(); }

bool read(ByteReader& in, HelloFrame* frame) {
  frame->lowest_version = in.u8();
  frame->highest_version = in.u8();
  frame->features = in.u32();
  frame->incarnation = in.u64();
  frame->echoed_incarnation = in.u64();
  frame->session = in.u32();
  frame->max_datagram = in.u16();
  frame->name = text(in.take(in.u8()));
  return in.ok();
}

bool read(ByteReader& in, LeastAwaitedFrame* frame) {
  frame->number = in.varint();
  return in.ok();
}

bool write(ByteWriter& out, const MaxDataFrame& frame) {
  put(out, FrameType::kMaxData);
  out.varint(frame.limit);
  return out.ok();
}

bool write(ByteWriter& out, const MaxStreamDataFrame& frame) {
  put(out, FrameType::kMaxStreamData);
  out.varint(frame.stream);
  out.varint(frame.limit);
  return out.ok();
}

bool write(ByteWriter& out, const OpenFrame& frame) {
  put(out, FrameType::kOpen);
  out.varint(frame.stream);
  out.varint(frame.rank);
  out.varint(frame.version);
  out.u8(static_cast<uint8_t>(frame.request_class));
  out.u8(static_cast<uint8_t>(frame.answer_class));
  out.u8(frame.request_is_empty ? kRequestIsEmpty : 0);
  out.varint(frame.answer_limit);
  out.u8(static_cast<uint8_t>(frame.job.size()));
  out.bytes(bytes(frame.job));
  out.u16(static_cast<uint16_t>(frame.preamble.size()));
  out.bytes(frame.preamble);
  return out.ok();
}

bool write(ByteWriter& out, const ResetFrame& frame) {
  put(out, FrameType::kReset);
  out.varint(frame.stream);
  out.varint(frame.final_size);
  out.varint(frame.code);
  return out.ok();
}

bool write(ByteWriter& out, const StopSendingFrame& frame) {
  put(out, FrameType::kStopSending);
  out.varint(frame.stream);
  out.varint(frame.code);
  return out.ok();
}

bool write(ByteWriter& out, const RerankFrame& frame) {
  put(out, FrameType::kRerank);
  out.varint(frame.stream);
  out.varint(frame.rank);
  out.varint(frame.version);
  return out.ok();
}

bool write(ByteWriter& out, const CloseFrame& frame) {
  put(out, FrameType::kClose);
  out.varint(frame.code);
  return out.ok();
}

bool write(ByteWriter& out, const HelloFrame& frame) {
  put(out, FrameType::kHello);
  out.u8(frame.lowest_version);
  out.u8(frame.highest_version);
  out.u32(frame.features);
  out.u64(frame.incarnation);
  out.u64(frame.echoed_incarnation);
  out.u32(frame.session);
  out.u16(frame.max_datagram);
  out.u8(static_cast<uint8_t>(frame.name.size()));
  out.bytes(bytes(frame.name));
  return out.ok();
}

bool write(ByteWriter& out, const LeastAwaitedFrame& frame) {
  put(out, FrameType::kLeastAwaited);
  out.varint(frame.number);
  return out.ok();
}

size_t stream_overhead(uint64_t stream, uint64_t offset) {
  return 1 + varint_size(stream) + varint_size(offset) + 4 + 1 + 2;
}

MutableByteSpan write_stream(ByteWriter& out, const StreamFrame& frame, uint16_t length) {
  put(out, FrameType::kStream);
  out.varint(frame.stream);
  out.varint(frame.offset);
  out.u32(frame.accept_time_us);
  out.u8(frame.end ? 1 : 0);
  out.u16(length);
  return out.reserve(length);
}

}  // namespace tictac::wire
