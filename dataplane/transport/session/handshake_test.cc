#include "dataplane/transport/session/handshake.h"

#include <gtest/gtest.h>

namespace tictac {
namespace {

constexpr Time kStart{1s};

wire::HelloFrame hello(uint64_t incarnation, uint32_t session, uint64_t echoed = 0) {
  return {.lowest_version = 1,
          .highest_version = 1,
          .incarnation = incarnation,
          .echoed_incarnation = echoed,
          .session = session,
          .max_datagram = 1472,
          .name = "b"};
}

struct HandshakeTest : ::testing::Test {
  using Verdict = Handshake::Verdict;

  HandshakeTest() { us.start(100, kStart); }
  Handshake us{{.name = "a", .incarnation = 5, .max_datagram = 8972}, "b"};
};

TEST_F(HandshakeTest, UpWhenThePeerEchoesUs) {
  EXPECT_EQ(us.hello_due(), kStart);
  EXPECT_EQ(us.make_hello().echoed_incarnation, 0U);
  us.on_hello_sent(kStart);
  EXPECT_EQ(us.on_hello(hello(9, 40), 0, kStart + 1ms), Verdict::kIgnore);
  EXPECT_FALSE(us.up());
  EXPECT_EQ(us.hello_due(), kStart + 1ms) << "answered at once";
  EXPECT_EQ(us.make_hello().echoed_incarnation, 9U);
  us.on_hello_sent(kStart + 1ms);
  EXPECT_EQ(us.on_hello(hello(9, 40, 5), 100, kStart + 2ms), Verdict::kUp);
  EXPECT_EQ(us.max_datagram(), 1472) << "the smaller of both";
  EXPECT_EQ(us.on_hello(hello(9, 40, 5), 100, kStart + 3ms), Verdict::kIgnore) << "duplicate";
}

TEST_F(HandshakeTest, RetriesBackOffToACap) {
  Time now = kStart;
  Duration last{0};
  for (int i = 0; i < 10; ++i) {
    us.on_hello_sent(now);
    const Duration wait = us.hello_due() - now;
    EXPECT_GE(wait, last);
    EXPECT_LE(wait, 250ms);
    last = wait;
    now = us.hello_due();
  }
  EXPECT_EQ(last, 250ms);
}

TEST_F(HandshakeTest, AnEchoOfAnotherSessionIsNone) {
  EXPECT_EQ(us.on_hello(hello(9, 40, 5), 99, kStart), Verdict::kIgnore);
  EXPECT_FALSE(us.up());
  EXPECT_EQ(us.on_hello(hello(9, 40, 4), 100, kStart), Verdict::kIgnore) << "our last incarnation";
  EXPECT_FALSE(us.up());
}

TEST_F(HandshakeTest, WhoIsNotConfiguredIsWrong) {
  wire::HelloFrame other = hello(9, 40, 5);
  other.name = "c";
  EXPECT_EQ(us.on_hello(other, 100, kStart), Verdict::kWrong);
  other = hello(9, 40, 5);
  other.lowest_version = other.highest_version = 2;
  EXPECT_EQ(us.on_hello(other, 100, kStart), Verdict::kWrong);
  other = hello(9, 40, 5);
  other.max_datagram = 100;
  EXPECT_EQ(us.on_hello(other, 100, kStart), Verdict::kWrong);
  EXPECT_EQ(us.on_hello(hello(0, 40, 5), 100, kStart), Verdict::kWrong);
  EXPECT_EQ(us.on_hello(hello(9, 0, 5), 100, kStart), Verdict::kWrong);
  EXPECT_FALSE(us.up());
}

TEST_F(HandshakeTest, NewAndOldConnections) {
  us.on_hello(hello(9, 40, 5), 100, kStart);
  ASSERT_TRUE(us.up());
  EXPECT_EQ(us.on_hello(hello(8, 90, 5), 100, kStart), Verdict::kStale) << "an older incarnation";
  EXPECT_EQ(us.on_hello(hello(9, 39, 5), 100, kStart), Verdict::kStale) << "an older session";
  EXPECT_TRUE(us.up());
  EXPECT_EQ(us.on_hello(hello(9, 41), 0, kStart), Verdict::kPeerIsNew) << "the peer lost the session";
  EXPECT_EQ(us.on_hello(hello(10, 1), 0, kStart), Verdict::kPeerIsNew) << "the peer restarted";
  us.start(101, kStart);
  EXPECT_EQ(us.on_hello(hello(9, 40, 5), 100, kStart), Verdict::kStale) << "the session that has just ended";
  EXPECT_EQ(us.on_hello(hello(10, 1, 5), 101, kStart), Verdict::kUp);
}

TEST_F(HandshakeTest, AClockThatWentBackIsBelievedAfterAWhile) {
  us.on_hello(hello(9, 40, 5), 100, kStart);
  us.start(101, kStart);
  EXPECT_EQ(us.on_hello(hello(3, 1), 0, kStart + 1s), Verdict::kStale);
  EXPECT_EQ(us.on_hello(hello(3, 1, 5), 101, kStart + 10s), Verdict::kUp);
}

// One end with what a session does around its handshake.
struct End {
  End(const std::string& name, const std::string& peer, uint64_t incarnation, uint32_t session)
      : handshake({.name = name, .incarnation = incarnation, .max_datagram = 1472}, peer),
        next_session(session) {
    handshake.start(next_session++, kStart);
  }
  void receive(const wire::HelloFrame& hello, uint32_t addressed, Time now) {
    if (handshake.on_hello(hello, addressed, now) != Handshake::Verdict::kPeerIsNew) return;
    handshake.start(next_session++, now);
    handshake.on_hello(hello, addressed, now);
    handshake.yield_to_peer(now);
  }
  Handshake handshake;
  uint32_t next_session;
};

// Both ends have met a connection of the other that has gone, and all HELLOs cross: each renews its own
// session, which makes it new to the other again.
TEST(HandshakeOfTwo, EndsThatRenewAtOnceDoNotChaseEachOtherForEver) {
  End a("a", "b", 5, 100);
  End b("b", "a", 9, 200);
  wire::HelloFrame old = hello(9, 150);
  a.receive(old, 0, kStart);
  old = hello(5, 50);
  old.name = "a";
  b.receive(old, 0, kStart);

  Time now = kStart;
  for (; now < kStart + 1s && !(a.handshake.up() && b.handshake.up()); now += 50us) {
    const bool a_sends = a.handshake.hello_due() <= now;
    const bool b_sends = b.handshake.hello_due() <= now;
    const auto from_a = std::make_pair(a.handshake.make_hello(), a.handshake.peer_session());
    const auto from_b = std::make_pair(b.handshake.make_hello(), b.handshake.peer_session());
    if (a_sends) a.handshake.on_hello_sent(now);
    if (b_sends) b.handshake.on_hello_sent(now);
    if (a_sends) b.receive(from_a.first, from_a.second, now);
    if (b_sends) a.receive(from_b.first, from_b.second, now);
  }
  EXPECT_TRUE(a.handshake.up() && b.handshake.up());
  EXPECT_LT(now - kStart, 200ms);
  EXPECT_LT(a.next_session, 110U);
  EXPECT_LT(b.next_session, 210U);
}

TEST_F(HandshakeTest, NewerConnectionThatAnswersOursNeedsNoNewSession) {
  us.on_hello(hello(9, 40), 0, kStart);
  EXPECT_EQ(us.on_hello(hello(9, 41, 5), 100, kStart), Verdict::kUp);
  EXPECT_EQ(us.peer_session(), 41U);
  EXPECT_EQ(us.on_hello(hello(9, 42, 5), 100, kStart), Verdict::kPeerIsNew) << "but not once we are up";
}

}  // namespace
}  // namespace tictac
