#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "dataplane/sched/scheduler.h"

namespace tictac {
namespace {

constexpr Time kNow = Time(1s);

TEST(SchedulerRandom, OperationsKeepStrictOrder) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    Scheduler scheduler({});
    scheduler.add_peer(PeerId(0));
    scheduler.add_job(JobId(0), 1);
    std::vector<TransferNode> nodes(200);  // of job 0, peer 0, version 0
    for (int step = 0; step < 3000; ++step) {
      TransferNode& node = nodes[random() % nodes.size()];
      switch (random() % 3) {
        case 0:
          scheduler.set_ready(node);
          break;
        case 1:
          scheduler.set_idle(node);
          break;
        default:
          scheduler.rerank(node, Rank(static_cast<uint32_t>(random() % 5000)), ScheduleVersion(0));
      }
      const TransferNode* picked = scheduler.pick(kNow);
      uint32_t best = UINT32_MAX;
      for (const TransferNode& n : nodes) {
        if (n.ready()) best = std::min(best, std::min(n.rank.value(), RankQueue::kLevels - 1));
      }
      ASSERT_EQ(picked == nullptr, best == UINT32_MAX) << "seed " << seed;
      if (!picked) continue;
      ASSERT_EQ(picked->level, best) << "seed " << seed;
      scheduler.commit(*picked, 1);
    }
    EXPECT_EQ(scheduler.counters().inversions, 0U);
  }
}

}  // namespace
}  // namespace tictac
