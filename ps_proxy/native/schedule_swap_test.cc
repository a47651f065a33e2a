// Order on the wire, from schedule to arrival.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ps_proxy/native/test_host.h"

namespace tictac::native {
namespace {

constexpr size_t kTensors = 40;
constexpr uint64_t kSize = 100'000;

std::string name_of(size_t i) { return "edge_" + std::to_string(i + 1) + "_w" + std::to_string(i) + "/read"; }

class Swap : public ::testing::Test {
 protected:
  void SetUp() override {
    for (size_t i = 0; i < kTensors; ++i) {
      tictac_name_id id = 0;
      ASSERT_EQ(tictac_name(server.get(), name_of(i).c_str(), &id), TICTAC_OK);
      ASSERT_EQ(tictac_serve(server.get(), id), TICTAC_OK);
    }
    pair.run(1ms);
  }
  // Fetches all, in an order that is neither of the two; the server answers as requests come.
  void fetch_all() {
    auto* buffer = static_cast<uint8_t*>(tictac_alloc(requester.get(), kSize));
    for (size_t k = 0; k < kTensors; ++k) {
      const size_t i = k * 17 % kTensors;
      tictac_name_id id = 0;
      ASSERT_EQ(tictac_name(requester.get(), name_of(i).c_str(), &id), TICTAC_OK);
      ASSERT_EQ(tictac_fetch(requester.get(), id, 0, buffer, kSize, i), TICTAC_OK);
    }
  }
  void answer_all() {
    auto* buffer = static_cast<uint8_t*>(tictac_alloc(server.get(), kSize));
    for (size_t k = 0; k < kTensors; ++k) {
      const tictac_event asked = pair.next(server.get(), TICTAC_EVENT_REQUEST);
      ASSERT_EQ(tictac_answer(server.get(), asked.request, buffer, kSize), TICTAC_OK);
    }
  }
  std::vector<tictac_event> completions(size_t count) {
    std::vector<tictac_event> all;
    while (all.size() < count && !HasFailure()) {
      all.push_back(pair.next(requester.get(), TICTAC_EVENT_COMPLETE, 5s));
    }
    return all;
  }
  static ScheduleEntries schedule(uint64_t version, bool reversed) {
    ScheduleEntries entries{"job", ScheduleVersion(version), {}, {}};
    for (size_t i = 0; i < kTensors; ++i) {
      entries.entries.emplace_back("w" + std::to_string(i),
                                   Rank(static_cast<uint32_t>(reversed ? kTensors - i : i)));
    }
    return entries;
  }
  static std::vector<uint64_t> tags(const std::vector<tictac_event>& events) {
    std::vector<uint64_t> all;
    for (const tictac_event& event : events) all.push_back(event.tag);
    return all;
  }

  TestPair pair{{}, {.link_rate = Rate(1'000'000'000)}};
  TestClient requester = pair.worker->connect("job", pair.now, 256, 8 << 20);
  TestClient server = pair.ps->connect("job", pair.now, 256, 8 << 20);
};

TEST_F(Swap, WithoutAScheduleTensorsComeByNumber) {
  fetch_all();
  answer_all();
  const auto order = tags(completions(kTensors));
  // What was answered before the rest had been asked for may have left already.
  EXPECT_TRUE(std::is_sorted(order.begin() + 3, order.end()));
}

TEST_F(Swap, ComesInTheScheduledOrderAndSaysSo) {
  pair.worker->set_table(schedule(7, true));
  fetch_all();
  answer_all();
  const auto events = completions(kTensors);
  const auto order = tags(events);
  EXPECT_TRUE(std::is_sorted(order.begin() + 3, order.end(), std::greater<>()));
  for (const tictac_event& event : events) {
    EXPECT_EQ(event.schedule_version, 7U);
    EXPECT_EQ(event.rank, kTensors - 1 - event.tag);
  }
}

TEST_F(Swap, WhatIsQueuedTurnsRound) {
  pair.worker->set_table(schedule(1, false));
  fetch_all();
  answer_all();
  const auto before = completions(10);
  pair.worker->set_table(schedule(2, true));
  const auto after = completions(kTensors - 10);
  const auto order = tags(after);
  // One or two may have been complete on the wire when the new order arrived.
  EXPECT_TRUE(std::is_sorted(order.begin() + 2, order.end(), std::greater<>()))
      << ::testing::PrintToString(order);
  EXPECT_EQ(after.back().schedule_version, 2U);
  EXPECT_EQ(pair.ps->scheduler.counters().inversions, 0U);
}

}  // namespace
}  // namespace tictac::native
