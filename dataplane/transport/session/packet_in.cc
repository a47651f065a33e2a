#include "dataplane/transport/session/session.h"

namespace tictac {

void Session::on_datagram(Time now, const wire::Header& header, ByteSpan payload) {
  auto& drops = host_.counters.drops;
  const auto drop = [&](DropReason reason) { ++drops[static_cast<size_t>(reason)]; };
  ByteReader in(payload);
  if (closed_ && !up_) return drop(DropReason::kStaleSession);
  if (header.flags & wire::kHello) return on_hello(now, header, in);
  if (header.session != handshake_.local_session() || handshake_.peer_session() == 0) {
    return drop(DropReason::kStaleSession);
  }
  if (!up_) {
    handshake_.on_packet();
    go_up(now);
  }
  last_heard_ = now;
  const bool ack_eliciting = (header.flags & wire::kAckEliciting) != 0;
  switch (received_->classify(header.number)) {
    case ReceivedPackets::Verdict::kDuplicate:
      received_->on_duplicate(ack_eliciting, now);
      return drop(DropReason::kDuplicate);
    case ReceivedPackets::Verdict::kTooOld:
      return drop(DropReason::kTooOld);
    case ReceivedPackets::Verdict::kNew:
      break;
  }
  peer_clock_us_ = header.send_time_us;
  Stream* first_stream = nullptr;
  const FrameResult result = on_frames(now, header, in, &first_stream);
  if (result == FrameResult::kViolation && up_) return go_down(now, PeerDownReason::kProtocolError);
  if (result != FrameResult::kOk || !up_) return;
  received_->add(header.number, ack_eliciting, now);
}

Session::FrameResult Session::on_frames(Time now, const wire::Header& header, ByteReader& in,
                                        Stream** first_stream) {
  FrameResult worst = FrameResult::kOk;
  const uint32_t connection = handshake_.local_session();
  while (in.remaining() > 0) {
    const auto type = static_cast<wire::FrameType>(in.u8());
    const FrameResult result = on_frame(now, header, type, in, first_stream);
    if (result == FrameResult::kMalformed)
      ++host_.counters.drops[static_cast<size_t>(DropReason::kMalformedFrame)];
    if (result == FrameResult::kMalformed || result == FrameResult::kViolation) return result;
    if (handshake_.local_session() != connection) return FrameResult::kNotNow;  // a CLOSE ended it
    if (result == FrameResult::kNotNow) worst = result;
  }
  return worst;
}

Session::FrameResult Session::on_frame(Time now, const wire::Header& header, wire::FrameType type,
                                       ByteReader& in, Stream** stream) {
  switch (type) {
    case wire::FrameType::kPadding:
    case wire::FrameType::kPing:
      return FrameResult::kOk;
    case wire::FrameType::kAck:
      return on_ack(now, in);
    case wire::FrameType::kMaxData:
      return on_max_data(in);
    case wire::FrameType::kMaxStreamData:
      return on_max_stream_data(in);
    case wire::FrameType::kOpen:
      return on_open(now, in);
    case wire::FrameType::kStream:
      return on_stream(header, in, stream);
    case wire::FrameType::kReset:
      return on_reset(in);
    case wire::FrameType::kStopSending:
      return on_stop_sending(in);
    case wire::FrameType::kRerank:
      return on_rerank(in);
    case wire::FrameType::kLeastAwaited: {
      wire::LeastAwaitedFrame frame;
      if (!wire::read(in, &frame)) return FrameResult::kMalformed;
      received_->raise_floor(frame.number);
      return FrameResult::kOk;
    }
    case wire::FrameType::kClose: {
      wire::CloseFrame frame;
      if (!wire::read(in, &frame)) return FrameResult::kMalformed;
      go_down(now, PeerDownReason::kClosed);
      return FrameResult::kOk;
    }
    case wire::FrameType::kHello:
      return FrameResult::kMalformed;
  }
  return FrameResult::kMalformed;
}

Session::FrameResult Session::on_ack(Time now, ByteReader& in) {
  wire::AckFrame ack;
  if (!wire::AckFrame::read(in, &ack)) return FrameResult::kMalformed;
  const SentPackets::AckResult result = sent_->on_ack(ack, now);
  if (!result.valid) return FrameResult::kMalformed;
  if (result.has_rtt_sample) rtt_.on_sample(result.rtt_sample, ack.delay_us() * Duration(1us), now);
  rate_->on_lost(sent_->detect_losses(rtt_, now).bytes);
  if (result.newly_acked_bytes > 0) {
    probes_in_a_row_ = probe_packets_ = 0;
    rate_->on_ack(result.newly_acked_bytes, rtt_, now);
    pacer_.set_rate(rate_->pacing_rate(rtt_), kPacingDepth);
  }
  host_.counters.spurious_losses += result.spurious_losses;
  update_blocked(now);
  return FrameResult::kOk;
}

Session::FrameResult Session::on_stream(const wire::Header& header, ByteReader& in, Stream** first) {
  wire::StreamFrame frame;
  if (!wire::read(in, &frame)) return FrameResult::kMalformed;
  Stream* stream = streams_.find(frame.stream);
  if (!stream) {
    const bool gone = is_ours(frame.stream) || peer_opened_.contains(frame.stream / 2);
    if (gone) return FrameResult::kOk;
    ++host_.counters.drops[static_cast<size_t>(DropReason::kEarlyStream)];
    return FrameResult::kNotNow;
  }
  const bool ranked = stream->arrival.transfer_class == TransferClass::kRanked && !stream->receive.done();
  if (ranked && !stream->arriving && stream->receive.has_sink()) {
    host_.counters.late_packets += host_.late.on_begin(*stream, frame.accept_time_us, slack_us());
  }
  if (ranked && !*first) {
    *first = stream;
    host_.counters.late_packets += host_.late.on_packet(*stream, header.send_time_us, slack_us());
  }
  const uint64_t before = stream->receive.highest();
  return after_receive(*stream, stream->receive.on_bytes(frame.offset, frame.bytes, frame.end), before);
}

// What a receiving half's new state means for the session.
Session::FrameResult Session::after_receive(Stream& stream, ReceiveHalf::Result result,
                                            uint64_t highest_before) {
  if (result == ReceiveHalf::Result::kTooManyHoles) return FrameResult::kNotNow;
  if (result != ReceiveHalf::Result::kOk) {
    ++host_.counters.drops[static_cast<size_t>(DropReason::kFlowControl)];
    return FrameResult::kViolation;
  }
  take_received(stream.receive.highest() - highest_before);
  if (data_received_ > our_max_data_) {
    ++host_.counters.drops[static_cast<size_t>(DropReason::kFlowControl)];
    return FrameResult::kViolation;
  }
  if (stream.receive.done()) host_.late.on_end(stream);
  refresh_limits(stream);
  release_if_done(stream);
  return FrameResult::kOk;
}

}  // namespace tictac
