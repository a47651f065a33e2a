// What a peer may take of an endpoint: streams, job names, the session's window.
#include <gtest/gtest.h>

#include "tests/fakes/session_fixture.h"

namespace tictac {
namespace {

using fakes::BufferSink;
using fakes::Seen;
using fakes::SessionFixture;

using ManyJobs = SessionFixture;

TEST_F(ManyJobs, JobNamesOfPeersAreBounded) {
  connect();
  for (uint64_t i = 0; i < 300; ++i) {
    send_frame(wire::OpenFrame{.stream = 2 * i, .request_is_empty = true, .job = "job" + std::to_string(i)});
  }
  EXPECT_EQ(drops(DropReason::kTooManyStreams), 300U - 192U);
  EXPECT_TRUE(endpoint.job_id("ours")) << "room is left for our own";
  const Seen seen = drain_later();
  ASSERT_EQ(seen.resets.size(), 300U - 192U);
  EXPECT_EQ(seen.resets[0].code, kRefusedCode);
  EXPECT_TRUE(events.downs.empty());
}

struct FewStreams : SessionFixture {
  FewStreams() : SessionFixture({.name = "a", .incarnation = 50, .max_streams = 2}) { connect(); }
};

TEST_F(FewStreams, TheThirdWaitsUntilOneHasGone) {
  open_from_peer(0, true);
  open_from_peer(2, true);
  const uint64_t third = open_from_peer(4, true);
  EXPECT_EQ(drops(DropReason::kTooManyStreams), 1U);
  EXPECT_FALSE(drain_later().acks(third));
  EXPECT_TRUE(endpoint.open(now, peer_id, {.job = "job"}, nullptr, nullptr))
      << "ours have places of their own";
  EXPECT_TRUE(endpoint.open(now, peer_id, {.job = "job"}, nullptr, nullptr));
  EXPECT_FALSE(endpoint.open(now, peer_id, {.job = "job"}, nullptr, nullptr));
}

struct SmallWindow : SessionFixture {
  SmallWindow() : SessionFixture({.name = "a", .incarnation = 50, .session_window = 1 << 20}) {
    connect();
    events.on_open_do = [this](StreamRef) { return &sink; };
  }
  BufferSink sink{64 << 20};
};

TEST_F(SmallWindow, TheSessionsWindowMovesWithWhatArrives) {
  open_from_peer(0);
  ASSERT_EQ(drain_later().max_stream_data.size(), 1U);
  uint64_t offset = 0;
  while (offset < (600 << 10)) {
    send_bytes(0, offset, std::string(1400, 'x'));
    offset += 1400;
  }
  const Seen seen = drain_later();
  ASSERT_EQ(seen.max_data.size(), 1U);
  EXPECT_GE(seen.max_data[0].limit, (1U << 20) + (512U << 10));
}

TEST_F(SmallWindow, BytesBeyondTheSessionsWindowEndTheSession) {
  open_from_peer(0);
  send_bytes(0, (1 << 20) - 1, "x");
  EXPECT_TRUE(events.downs.empty());
  send_bytes(0, 3 << 20, "x");
  EXPECT_EQ(events.downs.size(), 1U);
  EXPECT_EQ(drops(DropReason::kFlowControl), 1U);
}

}  // namespace
}  // namespace tictac
