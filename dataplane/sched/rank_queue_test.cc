#include "dataplane/sched/rank_queue.h"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace tictac {
namespace {

TEST(RankQueue, EmptyHasNoFront) {
  const auto queue = std::make_unique<RankQueue>();
  EXPECT_TRUE(queue->empty());
  EXPECT_EQ(queue->front(), nullptr);
}

TEST(RankQueue, IsFirstInFirstOutInsideALevel) {
  const auto queue = std::make_unique<RankQueue>();
  std::vector<TransferNode> nodes(3);
  for (TransferNode& node : nodes) {
    node.level = 4095;
    queue->push_back(node);
  }
  queue->remove(nodes[1]);
  EXPECT_EQ(queue->front(), &nodes[0]);
  queue->remove(nodes[0]);
  EXPECT_EQ(queue->front(), &nodes[2]);
  queue->remove(nodes[2]);
  EXPECT_TRUE(queue->empty());
}

TEST(RankQueue, EqualsAMapOfLists) {
  std::mt19937 random(11);
  const auto queue = std::make_unique<RankQueue>();
  std::vector<TransferNode> nodes(500);
  std::vector<bool> inside(nodes.size());
  std::map<uint16_t, std::list<TransferNode*>> model;
  for (int step = 0; step < 50'000; ++step) {
    const size_t i = random() % nodes.size();
    TransferNode& node = nodes[i];
    if (inside[i]) {
      queue->remove(node);
      auto& list = model[node.level];
      list.remove(&node);
      if (list.empty()) model.erase(node.level);
    } else {
      node.level = static_cast<uint16_t>(random() % RankQueue::kLevels);
      queue->push_back(node);
      model[node.level].push_back(&node);
    }
    inside[i] = !inside[i];
    ASSERT_EQ(queue->front(), model.empty() ? nullptr : model.begin()->second.front()) << "step " << step;
  }
}

}  // namespace
}  // namespace tictac
