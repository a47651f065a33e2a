#include <algorithm>
#include <array>

#include "dataplane/transport/session/session.h"

namespace tictac {
namespace {

// In the order in which they leave.
constexpr std::array<PendingFrame, 5> kPendingFrames = {kPendingOpen, kPendingRerank, kPendingReset,
                                                        kPendingStop, kPendingMaxStreamData};

wire::FrameType type_of(PendingFrame frame) {
  switch (frame) {
    case kPendingOpen:
      return wire::FrameType::kOpen;
    case kPendingReset:
      return wire::FrameType::kReset;
    case kPendingStop:
      return wire::FrameType::kStopSending;
    case kPendingMaxStreamData:
      return wire::FrameType::kMaxStreamData;
    case kPendingRerank:
      return wire::FrameType::kRerank;
  }
  return wire::FrameType::kPadding;
}

PendingFrame pending_of(wire::FrameType type) {
  for (const PendingFrame frame : kPendingFrames) {
    if (type_of(frame) == type) return frame;
  }
  return PendingFrame{};
}

constexpr uint8_t kMustArrive = kPendingReset | kPendingStop;

}  // namespace

void Session::want_control(Stream& stream, uint8_t frames) {
  stream.pending |= frames;
  stream.unacked |= frames & kMustArrive;
  if (stream.in_control_list) return;
  stream.in_control_list = true;
  stream.next_control = nullptr;
  (control_last_ ? control_last_->next_control : control_first_) = &stream;
  control_last_ = &stream;
  host_.scheduler.set_ready(control_);
}

// Writes control frames until the packet is full (false) or the list is empty (true).
bool Session::put_control(Packet& packet) {
  const size_t before = packet.out.size();
  bool all = true;
  while (control_first_ && all) {
    Stream& stream = *control_first_;
    all = put_control_of(packet, stream);
    if (!all) break;
    control_first_ = stream.next_control;
    if (!control_first_) control_last_ = nullptr;
    stream.in_control_list = false;
    release_if_done(stream);
  }
  host_.scheduler.commit(control_, static_cast<uint32_t>(packet.out.size() - before));
  if (!control_first_) host_.scheduler.set_idle(control_);
  return all;
}

bool Session::put_control_of(Packet& packet, Stream& stream) {
  for (const PendingFrame frame : kPendingFrames) {
    if (!(stream.pending & frame)) continue;
    if (!packet.has_room() || !put_one(packet, stream, frame)) return false;
    stream.pending &= static_cast<uint8_t>(~frame);
    packet.add({.type = type_of(frame), .slot = stream.slot, .generation = stream.generation});
  }
  return true;
}

// Writes the frame from the stream's present state, so that a retransmission says what holds now. On failure
// nothing was written: the frame is built in a copy of the writer first.
bool Session::put_one(Packet& packet, Stream& stream, PendingFrame which) {
  ByteWriter trial = packet.out;
  bool fits = true;
  switch (which) {
    case kPendingOpen:
      fits = wire::write(trial, wire::OpenFrame{.stream = stream.id,
                                                .rank = stream.arrival.rank.value(),
                                                .version = stream.arrival.version.value(),
                                                .request_class = stream.node.transfer_class,
                                                .answer_class = stream.answer_class,
                                                .request_is_empty = stream.request_is_empty,
                                                .answer_limit = stream.answer_limit,
                                                .job = host_.jobs.name(stream.arrival.job),
                                                .preamble = stream.preamble});
      stream.open_was_sent |= fits;
      break;
    case kPendingReset:
      fits = wire::write(trial, wire::ResetFrame{stream.id, stream.send.sent_size(), stream.reset_code});
      break;
    case kPendingStop:
      fits = wire::write(trial, wire::StopSendingFrame{stream.id, stream.stop_code});
      break;
    case kPendingMaxStreamData:
      fits = wire::write(trial, wire::MaxStreamDataFrame{stream.id, stream.receive.limit()});
      break;
    case kPendingRerank:
      fits = wire::write(
          trial, wire::RerankFrame{stream.id, stream.arrival.rank.value(), stream.arrival.version.value()});
      break;
  }
  if (fits) packet.out = trial;
  return fits;
}

void Session::on_chunks_acked(std::span<const SentChunk> chunks) {
  for (const SentChunk& chunk : chunks) {
    Stream* stream = streams_.find(chunk.slot, chunk.generation);
    if (!stream) continue;
    if (chunk.type == wire::FrameType::kStream) {
      stream->send.on_acked(chunk.offset, chunk.length, chunk.end);
      refresh(*stream);
    } else {
      stream->unacked &= static_cast<uint8_t>(~pending_of(chunk.type));
    }
    release_if_done(*stream);
  }
}

void Session::on_chunks_lost(std::span<const SentChunk> chunks) {
  for (const SentChunk& chunk : chunks) {
    if (chunk.type == wire::FrameType::kMaxData) max_data_pending_ = true;
    Stream* stream = streams_.find(chunk.slot, chunk.generation);
    if (!stream) continue;
    if (chunk.type == wire::FrameType::kStream) {
      stream->send.on_lost(chunk.offset, chunk.length, chunk.end);
      refresh(*stream);
    } else if (const PendingFrame frame = pending_of(chunk.type)) {
      want_control(*stream, frame);
    }
  }
}

Session::FrameResult Session::on_max_data(ByteReader& in) {
  wire::MaxDataFrame frame;
  if (!wire::read(in, &frame)) return FrameResult::kMalformed;
  peer_max_data_ = std::max(peer_max_data_, frame.limit);
  if (!has_session_blocked_) return FrameResult::kOk;
  has_session_blocked_ = false;
  streams_.for_each([this](Stream& stream) { refresh(stream); });
  return FrameResult::kOk;
}

Session::FrameResult Session::on_max_stream_data(ByteReader& in) {
  wire::MaxStreamDataFrame frame;
  if (!wire::read(in, &frame)) return FrameResult::kMalformed;
  Stream* stream = streams_.find(frame.stream);
  if (!stream) return on_absent(frame.stream);
  stream->answer_limit = std::max(stream->answer_limit, frame.limit);  // the answer may not have begun
  stream->send.raise_limit(frame.limit, now_us());
  refresh(*stream);
  return FrameResult::kOk;
}

Session::FrameResult Session::on_open(ByteReader& in) {
  wire::OpenFrame frame;
  if (!wire::read(in, &frame) || frame.job.empty() || frame.job.size() > kMostNameBytes ||
      frame.preamble.size() > kMaxPreamble) {
    return FrameResult::kMalformed;
  }
  if (is_ours(frame.stream)) {
    drop(DropReason::kMalformedFrame);
    return FrameResult::kViolation;
  }
  const uint64_t sequence = frame.stream / 2;
  if (peer_opened_.contains(sequence)) return FrameResult::kOk;  // came before
  // Sequence numbers leave no lasting holes in an honest session.
  constexpr size_t kMostHoles = 4096;
  Stream* stream = peer_opened_.count() < kMostHoles ? streams_.add(frame.stream, false) : nullptr;
  if (!stream) {
    drop(DropReason::kTooManyStreams);
    return FrameResult::kNotNow;
  }
  peer_opened_.add({sequence, sequence + 1});
  return accept(*stream, frame);
}

Session::FrameResult Session::accept(Stream& stream, const wire::OpenFrame& frame) {
  const auto job = host_.jobs.find_or_add_for_peer(frame.job);
  stream.node.transfer_class = job ? frame.answer_class : TransferClass::kControl;
  stream.arrival.transfer_class = frame.request_class;
  stream.node.job = stream.arrival.job = job.value_or(JobId(0));
  stream.node.rank = stream.arrival.rank = Rank(frame.rank);
  stream.node.version = stream.arrival.version = ScheduleVersion(frame.version);
  stream.node.peer = id_;
  stream.answer_limit = frame.answer_limit;
  stream.send.prepare();
  stream.receive.start(nullptr, kInitialRequestLimit);
  const StreamRef ref = ref_of(stream);
  if (!job) {  // no room for another job's name: the opener is told
    drop(DropReason::kTooManyStreams);
    cancel(ref, kRefusedCode);
  } else {
    ++host_.counters.streams_accepted;
    TransferSink* sink = host_.events.on_open(ref, {.job = frame.job,
                                                    .rank = Rank(frame.rank),
                                                    .version = ScheduleVersion(frame.version),
                                                    .request_class = frame.request_class,
                                                    .answer_class = frame.answer_class,
                                                    .preamble = frame.preamble});
    const bool cancelled = stream.unacked != 0;
    if (sink && cancelled) sink->on_done(StreamEnd::kStopped, 0, stream.stop_code);
    if (sink && !cancelled) stream.receive.set_sink(sink);
  }
  refresh_limits(stream);
  if (frame.request_is_empty) return after_receive(stream, stream.receive.on_bytes(0, {}, true), 0);
  return FrameResult::kOk;
}

Session::FrameResult Session::on_reset(ByteReader& in) {
  wire::ResetFrame frame;
  if (!wire::read(in, &frame)) return FrameResult::kMalformed;
  Stream* stream = streams_.find(frame.stream);
  if (!stream) return on_absent(frame.stream);
  const uint64_t before = stream->receive.highest();
  return after_receive(*stream, stream->receive.on_reset(frame.final_size, frame.code), before);
}

Session::FrameResult Session::on_stop_sending(ByteReader& in) {
  wire::StopSendingFrame frame;
  if (!wire::read(in, &frame)) return FrameResult::kMalformed;
  Stream* stream = streams_.find(frame.stream);
  if (!stream) return on_absent(frame.stream);
  if (stream->send.done()) return FrameResult::kOk;
  abandon_if_unanswered(*stream, frame.code);
  stream->send.abort(StreamEnd::kStopped, frame.code);
  host_.scheduler.set_idle(stream->node);
  want_control(*stream, kPendingReset);
  return FrameResult::kOk;
}

// One that overtakes its OPEN waits for it (the packet comes again); one that comes after a newer one, or
// after the stream has gone, changes nothing.
Session::FrameResult Session::on_rerank(const wire::Header& header, ByteReader& in) {
  wire::RerankFrame frame;
  if (!wire::read(in, &frame)) return FrameResult::kMalformed;
  Stream* stream = streams_.find(frame.stream);
  if (!stream) return on_absent(frame.stream);
  if (stream->opened_by_us) {
    drop(DropReason::kMalformedFrame);
    return FrameResult::kViolation;
  }
  if (header.number < stream->rerank_number) return FrameResult::kOk;
  stream->rerank_number = header.number;
  stream->arrival.rank = Rank(frame.rank);
  stream->arrival.version = ScheduleVersion(frame.version);
  stream->send.on_rerank(now_us());
  host_.scheduler.rerank(stream->node, Rank(frame.rank), ScheduleVersion(frame.version));
  return FrameResult::kOk;
}

}  // namespace tictac
