#include "ps_proxy/native/native_job.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace tictac::native {
namespace {

class Job : public ::testing::Test {
 protected:
  uint32_t rank(const std::string& text) {
    Fetch fetch;
    fetch.name = &job.acquire(text);
    job.begin(fetch, now);
    job.end(fetch);
    job.release(*fetch.name);
    return fetch.rank.value();
  }
  void push(std::vector<std::pair<std::string, Rank>> entries, std::optional<Rank> otherwise = {}) {
    job.set_table(std::make_unique<RankTable>(
        ScheduleEntries{"job", ScheduleVersion(++version), std::move(entries), otherwise}));
  }

  NativeJob job{"job"};
  Time now{1s};
  uint64_t version = 0;
};

TEST_F(Job, EntriesMatchEveryFormOfAName) {
  push({{"dense/kernel", Rank(3)}, {"v/biases", Rank(1)}, {"edge_9_exact/read", Rank(2)}}, Rank(9));
  EXPECT_EQ(rank("edge_16_v/biases"), 0U);
  EXPECT_EQ(rank("edge_50_v/biases/read"), 0U);
  EXPECT_EQ(rank("v/biases"), 0U);
  EXPECT_EQ(rank("edge_9_exact/read"), 1U);
  EXPECT_EQ(rank("edge_7_dense/kernel/Read/ReadVariableOp"), 2U);
  EXPECT_EQ(rank("edge_9_dense/MatMul/ReadVariableOp"), 3U);  // the default
  EXPECT_EQ(rank("edge_225_tower_0/v/biases_2"), 3U);
}

TEST_F(Job, PartOneIsNotPartTen) {
  push({{"emb/part_1", Rank(1)}, {"emb/part_10", Rank(2)}}, Rank(3));
  EXPECT_EQ(rank("emb/part_10/read"), 1U);
  EXPECT_EQ(rank("emb/part_1/read"), 0U);
  EXPECT_EQ(rank("emb/part_100/read"), 2U);
}

TEST_F(Job, WithoutAScheduleTheNumberDecides) {
  for (const char* name : {"edge_30_c/read", "edge_2_a/read", "edge_7_b/read", "plain"}) job.acquire(name);
  EXPECT_EQ(rank("edge_2_a/read"), 0U);
  EXPECT_EQ(rank("edge_7_b/read"), 1U);
  EXPECT_EQ(rank("edge_30_c/read"), 2U);
  EXPECT_EQ(rank("plain"), 3U);
}

TEST_F(Job, WithoutADefaultRankTheRestComesBehindTheSchedule) {
  for (const char* name : {"edge_1_x/read", "edge_2_y/read", "edge_3_z/read"}) job.acquire(name);
  push({{"z", Rank(5)}});
  EXPECT_EQ(rank("edge_3_z/read"), 0U);
  EXPECT_EQ(rank("edge_1_x/read"), 1U);
  EXPECT_EQ(rank("edge_2_y/read"), 2U);
}

TEST_F(Job, MoreNamesThanLevelsKeepTheirOrder) {
  std::vector<std::string> names;
  for (int i = 0; i < 10'000; ++i) names.push_back("edge_" + std::to_string(i) + "_w/read");
  for (const std::string& name : names) job.acquire(name);
  uint32_t last = 0;
  for (const std::string& name : names) {
    const uint32_t now_rank = rank(name);
    EXPECT_GE(now_rank, last);
    EXPECT_LT(now_rank, RankTable::kMaxLevels);
    last = now_rank;
  }
  EXPECT_GT(last, 4000U);
  EXPECT_GT(rank("plain"), last);
}

TEST_F(Job, ASwapNamesEveryFetchUnderWayOnce) {
  std::vector<Fetch> fetches(3);
  for (size_t i = 0; i < 3; ++i) {
    fetches[i].name = &job.acquire("edge_" + std::to_string(i) + "_w" + std::to_string(i));
    job.begin(fetches[i], now);
  }
  bool changed = false;
  // The later names made the earlier ranks stale; that settles first.
  job.refresh(now + 1s);
  while (job.next_stale(&changed)) {
  }
  push({{"w0", Rank(2)}, {"w1", Rank(1)}, {"w2", Rank(0)}});
  for (int i = 0; i < 3; ++i) {
    ASSERT_NE(job.next_stale(&changed), nullptr);
    EXPECT_TRUE(changed);
  }
  EXPECT_EQ(job.next_stale(&changed), nullptr);
  EXPECT_EQ(fetches[0].rank, Rank(2));
  EXPECT_EQ(fetches[2].rank, Rank(0));
  EXPECT_EQ(fetches[2].version, ScheduleVersion(1));
  for (Fetch& fetch : fetches) job.end(fetch);
}

TEST_F(Job, NamesGoWithTheirLastUser) {
  NativeName& first = job.acquire("w");
  NativeName& second = job.acquire("w");
  EXPECT_EQ(&first, &second);
  job.release(first);
  EXPECT_EQ(job.name_count(), 1U);
  job.release(second);
  EXPECT_EQ(job.name_count(), 0U);
}

}  // namespace
}  // namespace tictac::native
