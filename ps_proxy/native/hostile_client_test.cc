// What a client may write into the shared memory must hurt that client only.
#include <gtest/gtest.h>

#include <random>

#include "ps_proxy/native/test_host.h"

namespace tictac::native {
namespace {

class Hostile : public ::testing::Test {
 protected:
  void submit(const Submission& submission) {
    bad->submissions.push(submission);
    bad->submissions.publish();
  }
  // The gateway gave up the bad client for this reason, and the good one still works.
  void expect_fault(ClientFault fault) {
    pair.run(1ms);
    ASSERT_EQ(pair.worker->broken.size(), 1U);
    EXPECT_EQ(pair.worker->broken[0].id, bad_id);
    EXPECT_EQ(pair.worker->broken[0].fault, fault);
    pair.worker->disconnect(bad_id);
    EXPECT_TRUE(pair.run_until([&] { return !pair.worker->detached.empty(); }, 1s));
    expect_good_works();
  }
  void expect_good_works() {
    tictac_name_id wanted = 0;
    tictac_name_id served = 0;
    ASSERT_EQ(tictac_name(good.get(), "w", &wanted), TICTAC_OK);
    ASSERT_EQ(tictac_name(server.get(), "w", &served), TICTAC_OK);
    ASSERT_EQ(tictac_serve(server.get(), served), TICTAC_OK);
    ASSERT_EQ(tictac_fetch(good.get(), wanted, 0, nullptr, 0, 1), TICTAC_OK);
    const tictac_event asked = pair.next(server.get(), TICTAC_EVENT_REQUEST);
    ASSERT_EQ(tictac_answer(server.get(), asked.request, nullptr, 0), TICTAC_OK);
    EXPECT_EQ(pair.next(good.get(), TICTAC_EVENT_COMPLETE).status, TICTAC_OK);
  }
  void register_name() {
    tictac_name_id id = 0;
    ASSERT_EQ(tictac_name(bad.get(), "bad", &id), TICTAC_OK);
  }
  ControlHeader& header() { return *header_of(bad->control.data()); }

  static constexpr uint64_t kArena = 1 << 20;
  TestPair pair;
  uint64_t bad_id = 0;
  TestClient good = pair.worker->connect("job", pair.now);
  TestClient bad = pair.worker->connect("job", pair.now, 256, kArena, &bad_id);
  TestClient server = pair.ps->connect("job", pair.now);
};

TEST_F(Hostile, SubmissionIndexBeyondTheRing) {
  header().submissions.tail.store(100'000);
  expect_fault(ClientFault::kRingIndex);
}

TEST_F(Hostile, SubmissionIndexThatGoesBack) {
  register_name();
  pair.run(1ms);
  header().submissions.tail.store(0);
  expect_fault(ClientFault::kRingIndex);
}

TEST_F(Hostile, EventIndexAheadOfTheWriter) {
  header().events.head.store(5000);
  pair.cut = true;  // makes events
  pair.run(2s);
  pair.cut = false;
  EXPECT_TRUE(pair.run_until([&] { return pair.worker->endpoint.peer_is_up(PeerId(0)); }));
  expect_fault(ClientFault::kRingIndex);
}

TEST_F(Hostile, UnknownOperation) {
  submit({.op = static_cast<Op>(99)});
  expect_fault(ClientFault::kBadEntry);
}

TEST_F(Hostile, NamesThatTheLibraryNeverMakes) {
  submit({.op = Op::kName, .name = 7, .length = 1});  // not the next number
  expect_fault(ClientFault::kBadEntry);
}

TEST_F(Hostile, NameWithoutItsText) {
  submit({.op = Op::kName, .name = 0, .length = 500});
  expect_fault(ClientFault::kBadEntry);
}

TEST_F(Hostile, NameOfImpossibleLength) {
  submit({.op = Op::kName, .name = 0, .length = UINT32_MAX});
  expect_fault(ClientFault::kBadEntry);
}

TEST_F(Hostile, NameWithAZeroInside) {
  bad->submissions.push(Submission{.op = Op::kName, .name = 0, .length = 3});
  bad->submissions.push(TextEntry{{'a', 0, 'b'}});
  bad->submissions.publish();
  expect_fault(ClientFault::kBadEntry);
}

TEST_F(Hostile, FetchOfAnUnknownName) {
  submit({.op = Op::kFetch, .name = 3, .peer = 0, .slot = 0});
  expect_fault(ClientFault::kBadEntry);
}

TEST_F(Hostile, FetchFromAnUnknownPeer) {
  register_name();
  submit({.op = Op::kFetch, .name = 0, .peer = 1, .slot = 0});
  expect_fault(ClientFault::kBadEntry);
}

TEST_F(Hostile, FetchInASlotThatIsNone) {
  register_name();
  submit({.op = Op::kFetch, .name = 0, .peer = 0, .slot = 256});
  expect_fault(ClientFault::kBadEntry);
}

TEST_F(Hostile, FetchInASlotThatIsTaken) {
  register_name();
  submit({.op = Op::kFetch, .name = 0, .peer = 0, .slot = 0});
  submit({.op = Op::kFetch, .name = 0, .peer = 0, .slot = 0});
  expect_fault(ClientFault::kBadEntry);
}

TEST_F(Hostile, BuffersOutsideOfTheArena) {
  register_name();
  submit({.op = Op::kFetch, .name = 0, .peer = 0, .slot = 0, .offset = kArena, .size = 1});
  expect_fault(ClientFault::kBadArena);
}

TEST_F(Hostile, BuffersWhoseEndOverflows) {
  submit({.op = Op::kAnswer, .offset = 64, .size = UINT64_MAX - 10, .request = 1});
  expect_fault(ClientFault::kBadArena);
}

TEST_F(Hostile, StaleRequestsAndCancelsAreHarmless) {
  submit({.op = Op::kDecline, .request = 0x100000001});
  submit({.op = Op::kAnswer, .request = 0x100000001});
  submit({.op = Op::kCancel, .slot = 3, .sequence = 9});
  pair.run(1ms);
  EXPECT_TRUE(pair.worker->broken.empty());
  EXPECT_EQ(pair.next(bad.get(), TICTAC_EVENT_ANSWER_DONE).status, TICTAC_CANCELLED);
  expect_good_works();
}

// Overwrites the whole control memory while transfers run; whatever comes of it, the other client works.
TEST_F(Hostile, RandomControlMemory) {
  const uint32_t seed = 77;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  register_name();
  for (int round = 0; round < 200 && pair.worker->broken.empty(); ++round) {
    auto* words = reinterpret_cast<std::atomic<uint64_t>*>(bad->control.data());
    for (int i = 0; i < 50; ++i) {
      // Small values pass more checks.
      const uint64_t value = random() % 2 ? random() : random() % 8;
      words[random() % (bad->control.size() / 8)].store(value, std::memory_order_relaxed);
    }
    pair.run(50us);
  }
  pair.worker->disconnect(bad_id);
  EXPECT_TRUE(pair.run_until([&] { return !pair.worker->detached.empty(); }, 1s));
  expect_good_works();
}

}  // namespace
}  // namespace tictac::native
