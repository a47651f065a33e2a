#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/transport/endpoint.h"
#include "tests/fakes/recording_events.h"

namespace tictac::fakes {

// One end: an endpoint with its scheduler and one peer.
struct EndpointSide {
  EndpointSide(const Endpoint::Config& config, const Address& own, Rate link_rate = Rate(0))
      : name(config.name),
        address(own),
        scheduler({.link_rate = link_rate}),
        endpoint(config, scheduler, events) {}
  void knows(const EndpointSide& other, Time now) { endpoint.add_peer(other.name, other.address, now); }
  bool up() const { return endpoint.peer_is_up(PeerId(0)); }

  std::string name;
  Address address;
  Scheduler scheduler;
  RecordingEvents events;
  Endpoint endpoint;
};

// Two endpoints over a pipe with a fixed delay each way, in virtual time. `drop`, when set, is asked about
// every datagram.
class EndpointPair {
 public:
  static constexpr PeerId kPeer{0};

  explicit EndpointPair(Endpoint::Config a_config = {.name = "a", .incarnation = 1},
                        Endpoint::Config b_config = {.name = "b", .incarnation = 2}, Rate link_rate = Rate(0))
      : a(std::in_place, a_config, Address{1, 1}, link_rate),
        b(std::in_place, b_config, Address{2, 2}, link_rate) {}

  void connect() {
    a->knows(*b, now);
    b->knows(*a, now);
    run_until([this] { return a->up() && b->up(); });
  }

  // Runs until `done`, or for `limit`; returns whether it is done.
  bool run_until(const std::function<bool()>& done, Duration limit = 10s) {
    const Time end = now + limit;
    while (true) {
      pump();
      if (done()) return true;
      Time next = pipe_.empty() ? kNever : pipe_.front().arrives;
      for (const auto* side : {&a, &b}) {
        if (*side) next = std::min(next, (*side)->endpoint.next_deadline(now));
      }
      if (next > end) {
        now = end;
        return done();
      }
      now = std::max(now, next);
      deliver();
    }
  }
  void run_for(Duration span) {
    run_until([] { return false; }, span);
  }

  Time now{100s};
  Duration delay = 50us;
  std::optional<EndpointSide> a;  // may be reset: the process died
  std::optional<EndpointSide> b;
  std::function<bool(const Address& from, ByteSpan datagram)> drop;

 private:
  struct InFlight {
    Time arrives;
    Address from;
    Address to;
    std::vector<uint8_t> datagram;
  };

  void pump() {
    for (auto* side : {&a, &b}) {
      if (!*side) continue;
      std::array<uint8_t, 9000> buffer{};
      while (const auto out = (*side)->endpoint.next_datagram(now, buffer)) {
        const ByteSpan datagram = ByteSpan(buffer).first(out->size);
        if (drop && drop((*side)->address, datagram)) continue;
        pipe_.push_back({now + delay, (*side)->address, out->to, {datagram.begin(), datagram.end()}});
      }
    }
  }
  void deliver() {
    while (!pipe_.empty() && pipe_.front().arrives <= now) {
      const InFlight packet = std::move(pipe_.front());
      pipe_.pop_front();
      for (auto* side : {&a, &b}) {
        if (*side && (*side)->address == packet.to)
          (*side)->endpoint.on_datagram(now, packet.from, packet.datagram);
      }
    }
  }

  std::deque<InFlight> pipe_;
};

}  // namespace tictac::fakes
