
#include "dataplane/transport/session/session.h"

namespace tictac {

Stream* Session::find(StreamRef ref) { return up_ ? streams_.find(ref.slot, ref.generation) : nullptr; }

StreamRef Session::open(const OpenParams& params, TransferSource* request, TransferSink* answer) {
  const auto job = host_.jobs.find_or_add(params.job);
  if (!up_ || close_pending_ || !job || params.preamble.size() > kMaxPreamble) return {};
  Stream* stream = streams_.add(next_sequence_ * 2 + our_bit_, true);
  if (!stream) return {};
  ++next_sequence_;
  ++host_.counters.streams_opened;
  stream->told_abandoned = true;
  stream->node.transfer_class = params.request_class;
  stream->node.job = *job;
  stream->node.peer = id_;
  stream->node.rank = params.rank;
  stream->node.version = params.version;
  stream->arrival.transfer_class = params.answer_class;
  stream->arrival.job = *job;
  stream->arrival.rank = params.rank;
  stream->arrival.version = params.version;
  stream->answer_class = params.answer_class;
  stream->request_is_empty = request == nullptr;
  stream->answer_limit = answer ? answer->limit() : kInitialRequestLimit;
  stream->preamble.assign(params.preamble.begin(), params.preamble.end());
  stream->send.start(request, kInitialRequestLimit, now_us());
  stream->receive.start(answer, stream->answer_limit);
  want_control(*stream, kPendingOpen);
  refresh(*stream);
  return ref_of(*stream);
}

bool Session::answer(StreamRef ref, TransferSource* source) {
  Stream* stream = find(ref);
  if (!stream || stream->opened_by_us || stream->send.started() || stream->send.done()) return false;
  stream->told_abandoned = true;
  stream->send.start(source, stream->answer_limit, now_us());
  refresh(*stream);
  return true;
}

void Session::notify(StreamRef ref) {
  Stream* stream = find(ref);
  if (!stream) return;
  stream->send.refresh(now_us());
  refresh(*stream);
  refresh_limits(*stream);
}

void Session::rerank(StreamRef ref, Rank rank, ScheduleVersion version) {
  Stream* stream = find(ref);
  if (!stream || !stream->opened_by_us) return;
  LateMeter::on_rerank(stream->arrival, rank, version, peer_clock_us_ + slack_us());
  stream->send.on_rerank(now_us());
  host_.scheduler.rerank(stream->node, rank, version);
  // An OPEN that has not left yet says the new rank itself.
  if (stream->open_was_sent) want_control(*stream, kPendingRerank);
}

void Session::cancel(StreamRef ref, uint32_t code) {
  Stream* stream = find(ref);
  if (!stream) return;
  stream->told_abandoned = true;
  stream->reset_code = stream->stop_code = code;
  if (!stream->send.done()) {
    stream->send.abort(StreamEnd::kReset, code);
    host_.scheduler.set_idle(stream->node);
    want_control(*stream, kPendingReset);
  }
  if (!stream->receive.done()) {
    stream->receive.stop(StreamEnd::kStopped, code);
    want_control(*stream, kPendingStop);
  }
}

// Keeps the scheduler in step with what the sending half can do.
void Session::refresh(Stream& stream) {
  if (stream.send.sendable(session_room())) {
    host_.scheduler.set_ready(stream.node);
    return;
  }
  has_session_blocked_ |= stream.send.blocked_by_session(session_room());
  host_.scheduler.set_idle(stream.node);
}

void Session::refresh_limits(Stream& stream) {
  if (stream.receive.new_limit()) want_control(stream, kPendingMaxStreamData);
}

void Session::abandon_if_unanswered(Stream& stream, uint32_t code) {
  if (stream.told_abandoned) return;
  stream.told_abandoned = true;
  host_.events.on_abandoned(ref_of(stream), code);
}

void Session::release_if_done(Stream& stream) {
  const bool done = stream.send.done() && stream.receive.done();
  if (!done || stream.in_control_list || stream.unacked) return;
  host_.scheduler.set_idle(stream.node);
  streams_.remove(stream);
}

// Bytes go straight to their sinks, so what has arrived is consumed; the peer is told once half a window is
// used.
void Session::take_received(uint64_t bytes) {
  data_received_ += bytes;
  const uint64_t wanted = data_received_ + host_.config.session_window;
  if (wanted < our_max_data_ + host_.config.session_window / 2) return;
  our_max_data_ = wanted;
  max_data_pending_ = true;
}

}  // namespace tictac
