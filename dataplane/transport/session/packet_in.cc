#include "dataplane/transport/session/session.h"

namespace tictac {

void Session::on_datagram(Time now, const wire::Header& header, ByteSpan payload) {
  ByteReader in(payload);
  if (closed_ && !up_) return drop(DropReason::kStaleSession);
  if (header.flags & wire::kHello) {
    on_hello(now, header, in);
    return rearm();
  }
  if (header.session != handshake_.local_session() || handshake_.peer_session() == 0) {
    return drop(DropReason::kStaleSession);
  }
  if (header.number > kMaxVarint) return drop(DropReason::kMalformedFrame);
  if (!up_) {
    handshake_.on_packet();
    go_up(now);
  }
  last_heard_ = now;
  const FrameResult result = on_packet(now, header, in);
  if (result == FrameResult::kViolation && up_) go_down(now, PeerDownReason::kProtocolError);
  rearm();
}

Session::FrameResult Session::on_packet(Time now, const wire::Header& header, ByteReader& in) {
  const bool ack_eliciting = (header.flags & wire::kAckEliciting) != 0;
  switch (received_->classify(header.number)) {
    case ReceivedPackets::Verdict::kDuplicate:
      received_->on_duplicate(ack_eliciting, now);
      drop(DropReason::kDuplicate);
      return FrameResult::kOk;
    case ReceivedPackets::Verdict::kTooOld:
      drop(DropReason::kTooOld);
      return FrameResult::kOk;
    case ReceivedPackets::Verdict::kNew:
      break;
  }
  if (header.number > newest_number_) {
    newest_number_ = header.number;
    peer_clock_us_ = header.send_time_us;
  }
  packet_is_logged_ = false;
  const FrameResult result = on_frames(now, header, in);
  // What could not be taken now comes again: the packet is not acknowledged, and its frames do no harm twice.
  if (result == FrameResult::kOk && up_) received_->add(header.number, ack_eliciting, now);
  return result;
}

Session::FrameResult Session::on_frames(Time now, const wire::Header& header, ByteReader& in) {
  FrameResult worst = FrameResult::kOk;
  const uint32_t connection = handshake_.local_session();
  while (in.remaining() > 0) {
    const auto type = static_cast<wire::FrameType>(in.u8());
    const FrameResult result = on_frame(now, header, type, in);
    if (result == FrameResult::kMalformed) drop(DropReason::kMalformedFrame);
    if (result == FrameResult::kMalformed || result == FrameResult::kViolation) return result;
    if (handshake_.local_session() != connection) return FrameResult::kNotNow;  // a CLOSE ended it
    if (result == FrameResult::kNotNow) worst = result;
  }
  return worst;
}

Session::FrameResult Session::on_frame(Time now, const wire::Header& header, wire::FrameType type,
                                       ByteReader& in) {
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
      return on_open(in);
    case wire::FrameType::kStream:
      return on_stream(header, in);
    case wire::FrameType::kReset:
      return on_reset(in);
    case wire::FrameType::kStopSending:
      return on_stop_sending(in);
    case wire::FrameType::kRerank:
      return on_rerank(header, in);
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

Session::FrameResult Session::on_absent(uint64_t stream_id) {
  if (is_ours(stream_id)) {
    if (stream_id / 2 < next_sequence_) return FrameResult::kOk;  // has gone
    drop(DropReason::kMalformedFrame);
    return FrameResult::kViolation;
  }
  if (peer_opened_.contains(stream_id / 2)) return FrameResult::kOk;  // has gone
  drop(DropReason::kEarlyStream);
  return FrameResult::kNotNow;
}

Session::FrameResult Session::on_stream(const wire::Header& header, ByteReader& in) {
  wire::StreamFrame frame;
  if (!wire::read(in, &frame)) return FrameResult::kMalformed;
  Stream* stream = streams_.find(frame.stream);
  if (!stream) return on_absent(frame.stream);
  ReceiveHalf& half = stream->receive;
  const bool judged = stream->arrival.transfer_class == TransferClass::kRanked && half.has_sink();
  const uint64_t highest = half.highest();
  const uint64_t received = half.received();
  const ReceiveHalf::Result result = half.on_bytes(frame.offset, frame.bytes, frame.end);
  host_.counters.stream_bytes_received += half.received() - received;
  if (judged && half.received() > received) {
    host_.counters.late_packets +=
        late_.on_bytes(stream->arrival, frame.accept_time_us, header.send_time_us, slack_us());
  }
  if (judged && !packet_is_logged_) {
    packet_is_logged_ = true;
    late_.on_packet(stream->arrival, header.send_time_us);
  }
  return after_receive(*stream, result, highest);
}

// What a receiving half's new state means for the session.
Session::FrameResult Session::after_receive(Stream& stream, ReceiveHalf::Result result,
                                            uint64_t highest_before) {
  if (result == ReceiveHalf::Result::kTooManyHoles) return FrameResult::kNotNow;
  const uint64_t charged = stream.receive.highest() - highest_before;
  if (result != ReceiveHalf::Result::kOk || data_received_ + charged > our_max_data_) {
    drop(DropReason::kFlowControl);
    return FrameResult::kViolation;
  }
  take_received(charged);
  refresh_limits(stream);
  release_if_done(stream);
  return FrameResult::kOk;
}

}  // namespace tictac
