#include "dataplane/transport/session/handshake.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "dataplane/transport/wire/header.h"

namespace tictac {
namespace {

// A peer whose incarnation went back (its clock was set) is believed after this much time without a
// connection.
constexpr Duration kOldConnectionMemory = 5s;
constexpr uint16_t kLeastDatagram = 1252;  // an MTU of 1,280; the largest OPEN fits

}  // namespace

void Handshake::start(uint32_t session, Time now) {
  local_session_ = session;
  last_peer_session_ = std::max(last_peer_session_, peer_session_);
  peer_session_ = 0;
  peer_has_ours_ = false;
  hello_due_ = now;
  retry_ = kFirstRetry;
  forget_last_at_ = now + kOldConnectionMemory;
}

Handshake::Verdict Handshake::on_hello(const wire::HelloFrame& hello, uint32_t addressed_session, Time now) {
  const bool version_fits = hello.lowest_version <= wire::kVersion && wire::kVersion <= hello.highest_version;
  if (hello.name != peer_name_ || !version_fits || hello.incarnation == 0 || hello.session == 0 ||
      hello.max_datagram < kLeastDatagram) {
    return Verdict::kWrong;
  }
  const auto theirs = std::make_pair(hello.incarnation, hello.session);
  const bool connected = peer_session_ != 0;
  const auto known = std::make_pair(peer_incarnation_, connected ? peer_session_ : last_peer_session_);
  const bool remembers = connected || now < forget_last_at_;
  if (remembers && (theirs < known || (!connected && theirs == known))) return Verdict::kStale;
  const bool knows_ours =
      hello.echoed_incarnation == self_.incarnation && addressed_session == local_session_;
  // A newer connection of the peer that already answers ours: only its number is new to us. It cannot have
  // been up with ours before, as a session id that has gone is stale to it.
  const bool answers_ours = knows_ours && !up();
  if (connected && theirs != known && !answers_ours) return Verdict::kPeerIsNew;

  const bool was_up = up();
  if (!connected || theirs != known) {
    peer_incarnation_ = hello.incarnation;
    peer_session_ = last_peer_session_ = hello.session;
    max_datagram_ = std::min(self_.max_datagram, hello.max_datagram);
    hello_due_ = now;
  }
  if (knows_ours) {
    peer_has_ours_ = true;
  } else {
    hello_due_ = now;  // it does not know us yet
  }
  return up() && !was_up ? Verdict::kUp : Verdict::kIgnore;
}

void Handshake::yield_to_peer(Time now) {
  const auto ours = std::make_pair(self_.incarnation, std::string_view(self_.name));
  const auto theirs = std::make_pair(peer_incarnation_, std::string_view(peer_name_));
  if (!up() && ours < theirs) hello_due_ = now + retry_;
}

wire::HelloFrame Handshake::make_hello() const {
  return {.lowest_version = wire::kVersion,
          .highest_version = wire::kVersion,
          .features = 0,
          .incarnation = self_.incarnation,
          .echoed_incarnation = peer_session_ ? peer_incarnation_ : 0,
          .session = local_session_,
          .max_datagram = self_.max_datagram,
          .name = self_.name};
}

void Handshake::on_hello_sent(Time now) {
  hello_due_ = up() ? kNever : now + retry_;
  retry_ = std::min(retry_ * 2, kLastRetry);
}

}  // namespace tictac
