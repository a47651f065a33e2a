#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "dataplane/transport/endpoint.h"
#include "tests/fakes/raw_peer.h"
#include "tests/fakes/recording_events.h"
#include "tests/fakes/transfers.h"

namespace tictac::fakes {

// For tests: an endpoint "a" with one peer "b" that the test writes by hand. b's incarnation is the smaller
// one, so b opens even streams and a odd ones.
struct SessionFixture : ::testing::Test {
  static constexpr Address kPeerAddress{0x0a000002, 7471};

  explicit SessionFixture(const Endpoint::Config& config = {.name = "a", .incarnation = 50})
      : endpoint(config, scheduler, events) {
    peer_id = endpoint.add_peer("b", kPeerAddress, now);
  }
  void connect() {
    peer.connect(now, 7);
    ASSERT_TRUE(endpoint.peer_is_up(peer_id));
    now += 1ms;
  }
  uint64_t drops(DropReason reason) const { return endpoint.counters().drops[static_cast<size_t>(reason)]; }
  // b opens a stream whose request has bytes to follow, unless `empty`.
  uint64_t open_from_peer(uint64_t stream, bool empty = false, uint32_t rank = 3, uint64_t limit = 1 << 20) {
    return peer.send(now, [=](ByteWriter& out) {
      wire::write(out, wire::OpenFrame{.stream = stream,
                                       .rank = rank,
                                       .version = 1,
                                       .request_is_empty = empty,
                                       .answer_limit = limit,
                                       .job = "job"});
    });
  }
  uint64_t send_bytes(uint64_t stream, uint64_t offset, const std::string& text, bool end = false) {
    return peer.send(now, [=](ByteWriter& out) {
      const auto room = wire::write_stream(out, {.stream = stream, .offset = offset, .end = end},
                                           static_cast<uint16_t>(text.size()));
      std::copy(text.begin(), text.end(), room.begin());
    });
  }
  template <typename Frame>
  uint64_t send_frame(const Frame& frame) {
    return peer.send(now, [&](ByteWriter& out) { wire::write(out, frame); });
  }
  Seen drain() { return peer.drain(now); }
  // Lets the delayed acknowledgement become due.
  Seen drain_later() {
    now += 1ms;
    return peer.drain(now);
  }
  uint32_t open_streams() const { return endpoint.session_stats(peer_id).open_streams; }

  Time now{10s};
  Scheduler scheduler{{}};
  RecordingEvents events;
  Endpoint endpoint;
  PeerId peer_id;
  RawPeer peer{endpoint, kPeerAddress, "b"};
};

}  // namespace tictac::fakes
