#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "dataplane/base/clock.h"
#include "dataplane/transport/wire/frames.h"

namespace tictac {

// Who the two ends of a session are to each other. Symmetric: both say HELLO until the peer's HELLO, or any
// packet of the session, shows that ours arrived. A connection is named by (incarnation, session id); both
// only grow, so an old HELLO that comes late is told from a new one.
class Handshake {
 public:
  static constexpr Duration kFirstRetry = 50ms;
  static constexpr Duration kLastRetry = 250ms;

  struct Self {
    std::string name;
    uint64_t incarnation = 0;
    uint16_t max_datagram = 0;
  };
  enum class Verdict : uint8_t {
    kIgnore,     // nothing new
    kStale,      // of a connection that has gone
    kWrong,      // another name, no common version, our own echo
    kPeerIsNew,  // another connection: whatever was up is over
    kUp,         // the peer has answered ours
  };

  Handshake(const Self& self, std::string peer_name) : self_(self), peer_name_(std::move(peer_name)) {}

  // Begins a new connection under `session` and wants a HELLO sent at `now`.
  void start(uint32_t session, Time now);
  Verdict on_hello(const wire::HelloFrame& hello, uint32_t addressed_session, Time now);
  // After a kPeerIsNew that met us before we were up: both ends may have done the same and would chase each
  // other's new numbers for ever; the older one waits with its HELLO until the other's number rests.
  void yield_to_peer(Time now);
  // A valid packet of our session came: the peer has our HELLO.
  void on_packet() { peer_has_ours_ = true; }

  bool up() const { return peer_session_ != 0 && peer_has_ours_; }
  uint32_t local_session() const { return local_session_; }
  uint32_t peer_session() const { return peer_session_; }
  uint64_t peer_incarnation() const { return peer_incarnation_; }
  uint16_t max_datagram() const { return max_datagram_; }

  Time hello_due() const { return hello_due_; }
  wire::HelloFrame make_hello() const;
  void on_hello_sent(Time now);

 private:
  Self self_;
  std::string peer_name_;
  uint32_t local_session_ = 0;
  uint64_t peer_incarnation_ = 0;  // also of the last connection, to know older ones
  uint32_t peer_session_ = 0;      // 0: not known in this connection
  uint32_t last_peer_session_ = 0;
  uint16_t max_datagram_ = 0;
  bool peer_has_ours_ = false;
  Time hello_due_ = kNever;
  Duration retry_ = kFirstRetry;
  Time forget_last_at_ = kNever;
};

}  // namespace tictac
