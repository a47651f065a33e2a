#include <algorithm>

#include "dataplane/transport/session/session.h"

namespace tictac {
namespace {

// Until the first MAX_DATA; every endpoint grants at least this.
constexpr uint64_t kInitialSessionWindow = 1 << 20;
constexpr uint32_t kPersistentProbes = 4;

}  // namespace

Session::Session(SessionHost& host, PeerId id, std::string name, const Address& address, Time now)
    : host_(host),
      id_(id),
      name_(name),
      address_(address),
      handshake_({.name = host.config.name,
                  .incarnation = host.config.incarnation,
                  .max_datagram = static_cast<uint16_t>(host.config.max_datagram)},
                 std::move(name)),
      streams_(host.config.max_streams) {
  host.attention.resize(id.value() + size_t{1});
  control_.transfer_class = TransferClass::kControl;
  control_.peer = id;
  connect(now);
}

void Session::connect(Time now) {
  handshake_.start(host_.next_session_id++, now);
  received_.emplace();
  sent_.emplace(static_cast<SentPacketsObserver&>(*this));
  rate_.emplace();
  rtt_ = RttEstimator();
  pacer_.configure(Rate(0), kPacingDepth);
  ping_pending_ = close_pending_ = paced_ = false;
  probe_packets_ = probes_in_a_row_ = 0;
  least_awaited_told_ = 1;
  peer_opened_.clear();
  next_sequence_ = 0;
  data_sent_ = data_received_ = 0;
  peer_max_data_ = our_max_data_ = kInitialSessionWindow;
  max_data_pending_ = false;
  has_session_blocked_ = false;
  newest_number_ = 0;
  last_heard_ = last_sent_ = now;
  host_.scheduler.set_peer_blocked(id_, true);
  rearm();
}

void Session::on_hello(Time now, const wire::Header& header, ByteReader& in) {
  wire::HelloFrame hello;
  if (in.u8() != static_cast<uint8_t>(wire::FrameType::kHello) || !wire::read(in, &hello)) {
    return drop(DropReason::kMalformedFrame);
  }
  const bool was_up = up_;
  Handshake::Verdict verdict = handshake_.on_hello(hello, header.session, now);
  if (verdict == Handshake::Verdict::kPeerIsNew) {
    if (up_) {
      go_down(now, PeerDownReason::kRestarted);
      verdict = handshake_.on_hello(hello, header.session, now);
    } else {
      connect(now);
      verdict = handshake_.on_hello(hello, header.session, now);
      handshake_.yield_to_peer(now);
    }
  }
  if (verdict == Handshake::Verdict::kStale) drop(DropReason::kStaleSession);
  if (verdict == Handshake::Verdict::kWrong) drop(DropReason::kUnknownPeer);
  if (verdict == Handshake::Verdict::kUp) go_up(now);
  // The peer says it once more, so it may not know yet that we have it: any packet of the session tells.
  if (verdict == Handshake::Verdict::kIgnore && was_up && up_) ping_pending_ = true;
}

void Session::go_up(Time now) {
  up_ = true;
  last_heard_ = now;
  const auto ours = std::make_pair(host_.config.incarnation, std::string_view(host_.config.name));
  const auto theirs = std::make_pair(handshake_.peer_incarnation(), std::string_view(name_));
  our_bit_ = ours < theirs ? 0 : 1;
  our_max_data_ = std::max(our_max_data_, host_.config.session_window);
  max_data_pending_ = our_max_data_ > kInitialSessionWindow;
  update_blocked(now);
  host_.events.on_peer_up(id_, {name_, handshake_.peer_incarnation(), handshake_.max_datagram()});
}

void Session::go_down(Time now, PeerDownReason reason) {
  up_ = false;  // from here on the application's calls about these streams do nothing
  host_.scheduler.set_idle(control_);
  control_first_ = control_last_ = nullptr;
  streams_.for_each([&](Stream& stream) {
    host_.scheduler.set_idle(stream.node);
    stream.in_control_list = false;
    stream.pending = stream.unacked = 0;
    abandon_if_unanswered(stream, 0);
    stream.send.abort(StreamEnd::kPeerLost, 0);
    stream.receive.abort(StreamEnd::kPeerLost, 0);
    streams_.remove(stream);
  });
  connect(now);
  host_.events.on_peer_down(id_, reason);
}

void Session::close() {
  closed_ = true;
  close_pending_ = up_;
  rearm();
}

void Session::run_timers(Time now) {
  if (!up_) return rearm();
  if (now - last_heard_ >= host_.config.dead_after) return go_down(now, PeerDownReason::kTimeout);
  if (now - last_sent_ >= host_.config.keep_alive) ping_pending_ = true;
  if (sent_->loss_time() <= now) rate_->on_lost(sent_->detect_losses(rtt_, now).bytes);
  if (sent_->probe_time(rtt_) <= now) {
    sent_->on_probe_timeout(now);
    probe_packets_ = 2;
    ping_pending_ = true;
    if (++probes_in_a_row_ == kPersistentProbes) rate_->on_persistent_congestion();
  }
  update_blocked(now);
  rearm();
}

Time Session::deadline() const {
  if (!up_) return closed_ ? kNever : handshake_.hello_due();
  Time next = std::min({handshake_.hello_due(), received_->ack_due_at(), sent_->loss_time(),
                        sent_->probe_time(rtt_), last_heard_ + host_.config.dead_after});
  if (!ping_pending_) next = std::min(next, last_sent_ + host_.config.keep_alive);
  if (paced_) next = std::min(next, pacer_.ready_at());
  return next;
}

// A blocked peer is passed over by the scheduler: not connected, window full, or paced.
void Session::update_blocked(Time now) {
  const bool window_full = sent_->bytes_in_flight() >= rate_->window() && probe_packets_ == 0;
  paced_ = !window_full && !pacer_.may_send(now) && probe_packets_ == 0;
  host_.scheduler.set_peer_blocked(id_, !up_ || window_full || paced_ || sent_->full());
}

uint32_t Session::slack_us() const {
  constexpr Duration kLeast = 200us;
  const Duration slack = std::max(2 * std::max(rtt_.smoothed(), rtt_.latest()), kLeast);
  return static_cast<uint32_t>(slack / 1us);
}

SessionStats Session::stats() const {
  return {.up = up_,
          .peer_incarnation = handshake_.peer_incarnation(),
          .smoothed_rtt = rtt_.smoothed(),
          .min_rtt = rtt_.min(),
          .bytes_in_flight = sent_->bytes_in_flight(),
          .congestion_window = rate_->window(),
          .pacing_rate = rate_->pacing_rate(rtt_),
          .open_streams = streams_.size()};
}

}  // namespace tictac
