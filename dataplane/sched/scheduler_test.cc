#include "dataplane/sched/scheduler.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace tictac {
namespace {

constexpr Time kNow = Time(1s);
constexpr uint32_t kPacket = 1400;

TransferNode ranked(uint16_t job, uint16_t peer, uint32_t rank, uint64_t version = 1) {
  TransferNode node;
  node.job = JobId(job);
  node.peer = PeerId(peer);
  node.rank = Rank(rank);
  node.version = ScheduleVersion(version);
  return node;
}

TransferNode unranked(TransferClass transfer_class, uint16_t peer = 0) {
  TransferNode node;
  node.transfer_class = transfer_class;
  node.peer = PeerId(peer);
  return node;
}

class SchedulerTest : public ::testing::Test {
 protected:
  void add(uint16_t jobs, uint16_t peers) {
    for (uint16_t p = 0; p < peers; ++p) scheduler_.add_peer(PeerId(p));
    for (uint16_t j = 0; j < jobs; ++j) scheduler_.add_job(JobId(j), 1);
  }
  // Serves one packet; returns who was served.
  TransferNode* serve() {
    TransferNode* node = scheduler_.pick(kNow);
    if (node) scheduler_.commit(*node, kPacket);
    return node;
  }
  std::map<TransferNode*, int> serve_many(int packets) {
    std::map<TransferNode*, int> served;
    for (int i = 0; i < packets; ++i) ++served[serve()];
    return served;
  }
  Scheduler scheduler_{Scheduler::Config{}};
};

TEST_F(SchedulerTest, NothingReadyPicksNothing) {
  add(1, 1);
  EXPECT_EQ(scheduler_.pick(kNow), nullptr);
  EXPECT_EQ(scheduler_.next_send_time(kNow), kNever);
}

TEST_F(SchedulerTest, BetterRankFirstThenArrival) {
  add(1, 1);
  TransferNode late = ranked(0, 0, 5);
  TransferNode early = ranked(0, 0, 1);
  TransferNode same = ranked(0, 0, 1);
  for (TransferNode* node : {&late, &early, &same}) scheduler_.set_ready(*node);
  EXPECT_EQ(serve(), &early);
  scheduler_.set_idle(early);
  EXPECT_EQ(serve(), &same);
  scheduler_.set_idle(same);
  EXPECT_EQ(serve(), &late);
  EXPECT_EQ(scheduler_.counters().inversions, 0U);
}

TEST_F(SchedulerTest, PickIsRepeatableUntilCommit) {
  add(2, 2);
  TransferNode a = ranked(0, 0, 5);
  TransferNode b = ranked(1, 1, 5);
  scheduler_.set_ready(a);
  scheduler_.set_ready(b);
  TransferNode* first = scheduler_.pick(kNow);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(scheduler_.pick(kNow), first);
}

TEST_F(SchedulerTest, ABetterOneOvertakesAtTheNextPacket) {
  add(1, 1);
  TransferNode bulk = ranked(0, 0, 9);
  TransferNode urgent = ranked(0, 0, 0);
  scheduler_.set_ready(bulk);
  EXPECT_EQ(serve(), &bulk);
  scheduler_.set_ready(urgent);
  EXPECT_EQ(serve(), &urgent);
}

TEST_F(SchedulerTest, CountsAnInversionWhenTheOwnerPassesThePickBy) {
  add(1, 1);
  TransferNode worse = ranked(0, 0, 9);
  TransferNode better = ranked(0, 0, 1);
  scheduler_.set_ready(worse);
  scheduler_.set_ready(better);
  scheduler_.commit(worse, kPacket);
  EXPECT_EQ(scheduler_.counters().inversions, 1U);
  scheduler_.commit(better, kPacket);
  EXPECT_EQ(scheduler_.counters().inversions, 1U);
}

TEST_F(SchedulerTest, RerankTurnsTheQueueRound) {
  add(1, 1);
  std::vector<TransferNode> nodes;
  for (uint32_t i = 0; i < 10; ++i) nodes.push_back(ranked(0, 0, i, 1));
  for (TransferNode& node : nodes) scheduler_.set_ready(node);
  for (uint32_t i = 0; i < 10; ++i) scheduler_.rerank(nodes[i], Rank(9 - i), ScheduleVersion(2));
  for (size_t i = 10; i-- > 0;) {
    EXPECT_EQ(serve(), &nodes[i]);
    scheduler_.set_idle(nodes[i]);
  }
  EXPECT_EQ(scheduler_.counters().version_mixes, 0U);
}

TEST_F(SchedulerTest, TheOlderVersionDrainsFirst) {
  add(1, 1);
  TransferNode old_worse = ranked(0, 0, 100, 1);
  TransferNode new_best = ranked(0, 0, 0, 2);
  TransferNode straggler = ranked(0, 0, 50, 1);
  scheduler_.set_ready(old_worse);
  scheduler_.set_ready(new_best);
  scheduler_.set_ready(straggler);
  for (TransferNode* expected : {&straggler, &old_worse, &new_best}) {
    EXPECT_EQ(serve(), expected);
    scheduler_.set_idle(*expected);
  }
  EXPECT_EQ(scheduler_.counters().inversions, 0U);
}

TEST_F(SchedulerTest, AThirdVersionIsCounted) {
  add(1, 1);
  std::vector<TransferNode> nodes = {ranked(0, 0, 3, 1), ranked(0, 0, 2, 2), ranked(0, 0, 1, 3)};
  for (TransferNode& node : nodes) scheduler_.set_ready(node);
  EXPECT_EQ(scheduler_.counters().version_mixes, 1U);
  for (TransferNode& node : nodes) scheduler_.set_idle(node);
  EXPECT_EQ(scheduler_.pick(kNow), nullptr);
}

TEST_F(SchedulerTest, VersionsFollowEachOtherWithoutMixing) {
  add(1, 1);
  for (uint64_t version = 1; version < 20; ++version) {
    TransferNode left_over = ranked(0, 0, 7, version);
    TransferNode next = ranked(0, 0, 0, version + 1);
    scheduler_.set_ready(left_over);
    scheduler_.set_ready(next);
    EXPECT_EQ(serve(), &left_over);
    scheduler_.set_idle(left_over);
    EXPECT_EQ(serve(), &next);
    scheduler_.set_idle(next);
  }
  EXPECT_EQ(scheduler_.counters().version_mixes, 0U);
}

TEST_F(SchedulerTest, RanksAboveTheLastLevelShareItAndAreCounted) {
  add(1, 1);
  TransferNode a = ranked(0, 0, 4096);
  TransferNode b = ranked(0, 0, 2147483647);
  scheduler_.set_ready(a);
  scheduler_.set_ready(b);
  EXPECT_EQ(serve(), &a);
  EXPECT_EQ(scheduler_.counters().shared_levels, 2U);
}

TEST_F(SchedulerTest, JobsShareByWeight) {
  add(2, 1);
  scheduler_.add_job(JobId(1), 3);
  TransferNode a = ranked(0, 0, 9);
  TransferNode b = ranked(1, 0, 1);
  scheduler_.set_ready(a);
  scheduler_.set_ready(b);
  const auto served = serve_many(40'000);
  EXPECT_NEAR(served.at(&b), 30'000, 40'000 * 0.02);
}

TEST_F(SchedulerTest, PeersOfAJobShareEvenly) {
  add(1, 3);
  std::vector<TransferNode> nodes = {ranked(0, 0, 1), ranked(0, 1, 50), ranked(0, 2, 4095)};
  for (TransferNode& node : nodes) scheduler_.set_ready(node);
  auto served = serve_many(30'000);
  for (TransferNode& node : nodes) EXPECT_NEAR(served[&node], 10'000, 600);
}

TEST_F(SchedulerTest, ABlockedPeerIsPassedOver) {
  add(1, 2);
  TransferNode a = ranked(0, 0, 1);
  TransferNode b = ranked(0, 1, 1);
  scheduler_.set_ready(a);
  scheduler_.set_ready(b);
  scheduler_.set_peer_blocked(PeerId(0), true);
  EXPECT_EQ(serve_many(100).at(&b), 100);
  scheduler_.set_peer_blocked(PeerId(1), true);
  EXPECT_EQ(scheduler_.pick(kNow), nullptr);
  EXPECT_EQ(scheduler_.next_send_time(kNow), kNever);
  scheduler_.set_peer_blocked(PeerId(0), false);
  EXPECT_EQ(serve(), &a);
}

TEST_F(SchedulerTest, ControlGoesFirstAndStaysAtFivePercent) {
  add(1, 1);
  TransferNode control = unranked(TransferClass::kControl);
  TransferNode tensor = ranked(0, 0, 0);
  scheduler_.set_ready(tensor);
  scheduler_.set_ready(control);
  EXPECT_EQ(serve(), &control);
  const auto served = serve_many(100'000);
  EXPECT_NEAR(served.at(&control), 5'000, 150);
}

TEST_F(SchedulerTest, ControlAloneMayUseTheWholeLink) {
  add(1, 1);
  TransferNode control = unranked(TransferClass::kControl);
  scheduler_.set_ready(control);
  EXPECT_EQ(serve_many(1000).at(&control), 1000);
}

TEST_F(SchedulerTest, BulkComesLastWithFivePercent) {
  add(1, 2);
  TransferNode bulk = unranked(TransferClass::kBulk, 1);
  TransferNode tensor = ranked(0, 0, 4000);
  scheduler_.set_ready(bulk);
  scheduler_.set_ready(tensor);
  EXPECT_EQ(serve(), &tensor);
  const auto served = serve_many(100'000);
  EXPECT_NEAR(served.at(&bulk), 5'000, 300);
  scheduler_.set_idle(tensor);
  EXPECT_EQ(serve_many(10).at(&bulk), 10);
}

TEST_F(SchedulerTest, PickForFillsAPacketInOrderForOnePeer) {
  add(2, 2);
  TransferNode other_peer = ranked(0, 1, 0);
  TransferNode first = ranked(0, 0, 1);
  TransferNode second = ranked(0, 0, 2);
  TransferNode other_job = ranked(1, 0, 0);
  TransferNode bulk = unranked(TransferClass::kBulk);
  for (TransferNode* node : {&bulk, &other_job, &second, &first, &other_peer}) scheduler_.set_ready(*node);
  for (TransferNode* expected : {&first, &second, &other_job, &bulk}) {
    EXPECT_EQ(scheduler_.pick_for(PeerId(0)), expected);
    scheduler_.set_idle(*expected);
  }
  EXPECT_EQ(scheduler_.pick_for(PeerId(0)), nullptr);
}

TEST_F(SchedulerTest, ADebtorBesideABlockedPeerIsServed) {
  add(1, 2);
  TransferNode blocked = ranked(0, 0, 0);
  TransferNode debtor = ranked(0, 1, 1);
  scheduler_.set_ready(blocked);
  scheduler_.set_ready(debtor);
  scheduler_.set_peer_blocked(PeerId(0), true);
  for (int i = 0; i < 100; ++i) scheduler_.commit(debtor, kPacket);  // packets filled through pick_for
  EXPECT_EQ(scheduler_.pick(kNow), &debtor);
}

TEST_F(SchedulerTest, TheBucketHoldsBackAndSaysUntilWhen) {
  Scheduler shaped({.link_rate = Rate(1'000'000'000), .burst_bytes = 3000});
  shaped.add_peer(PeerId(0));
  shaped.add_job(JobId(0), 1);
  TransferNode node = ranked(0, 0, 0);
  shaped.set_ready(node);
  Time now = kNow;
  while (shaped.pick(now)) shaped.on_frame_sent(1500, now);
  const Time next = shaped.next_send_time(now);
  EXPECT_GT(next, now);
  EXPECT_EQ(shaped.pick(next - 1ns), nullptr);
  EXPECT_EQ(shaped.pick(next), &node);
}

}  // namespace
}  // namespace tictac
