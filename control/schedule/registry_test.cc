#include "control/schedule/registry.h"

#include <gtest/gtest.h>

#include "control/schedule/schedule_limits.h"

namespace tictac {
namespace {

control::PushRequest request(const std::string& job,
                             std::initializer_list<std::pair<const char*, uint32_t>> entries) {
  control::PushRequest request;
  request.set_job(job);
  for (const auto& [name, rank] : entries) {
    auto& entry = *request.add_entries();
    entry.set_name(name);
    entry.set_rank(rank);
  }
  return request;
}

uint64_t push(Registry& registry, const control::PushRequest& r) {
  const auto schedule = registry.prepare(r);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  registry.commit(*schedule, 1000);
  return (*schedule)->version();
}

control::WatchRequest::Hello hello(const std::string& proxy) {
  control::WatchRequest::Hello h;
  h.set_proxy(proxy);
  return h;
}

control::WatchRequest::Answer answer(const std::string& job, uint64_t version, bool accepted,
                                     const char* reason = "") {
  control::WatchRequest::Answer a;
  a.set_job(job);
  a.set_version(version);
  a.set_accepted(accepted);
  a.set_reason(reason);
  return a;
}

TEST(Registry, VersionsGrowByJob) {
  Registry registry;
  EXPECT_EQ(push(registry, request("a", {{"w", 0}})), 1U);
  EXPECT_EQ(push(registry, request("a", {{"w", 1}})), 2U);
  EXPECT_EQ(push(registry, request("b", {})), 1U);
  EXPECT_EQ(registry.all_newest().size(), 2U);
}

TEST(Registry, RefusesWhatIsNoSchedule) {
  Registry registry;
  EXPECT_FALSE(registry.prepare(request("", {})).ok());
  EXPECT_FALSE(registry.prepare(request(std::string(kMostNameBytes + 1, 'j'), {})).ok());
  EXPECT_FALSE(registry.prepare(request("a", {{"w", 0}, {"w", 1}})).ok());
  EXPECT_FALSE(registry.prepare(request("a", {{"", 0}})).ok());
  EXPECT_FALSE(registry.prepare(request("a", {{"w", kMostRank + 1}})).ok());
  EXPECT_TRUE(registry.prepare(request("a", {{"w", kMostRank}})).ok());
  EXPECT_TRUE(registry.all_newest().empty());
}

TEST(Registry, BoundsTheJobs) {
  Registry registry;
  for (size_t i = 0; i < kMostJobs; ++i) push(registry, request("job" + std::to_string(i), {}));
  EXPECT_EQ(registry.prepare(request("one more", {})).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(registry.prepare(request("job0", {})).ok());
}

TEST(Registry, StatusTellsWhoHasWhat) {
  Registry registry;
  push(registry, request("a", {{"w", 0}}));
  ASSERT_TRUE(registry.connect(hello("p"), 10).ok());
  EXPECT_EQ(registry.status("a").jobs(0).proxies(0).newest(), control::WAITING);
  registry.answer("p", answer("a", 1, true));
  EXPECT_EQ(registry.status("a").jobs(0).proxies(0).newest(), control::ACKED);
  EXPECT_EQ(registry.status("a").jobs(0).proxies(0).in_force(), 1U);
  push(registry, request("a", {{"w", 5}}));
  EXPECT_EQ(registry.status("a").jobs(0).proxies(0).newest(), control::WAITING);
  registry.answer("p", answer("a", 2, false, "no room"));
  const auto in_proxy = registry.status("a").jobs(0).proxies(0);
  EXPECT_EQ(in_proxy.newest(), control::NACKED);
  EXPECT_EQ(in_proxy.in_force(), 1U) << "a nack keeps the last good one";
  EXPECT_EQ(in_proxy.reason(), "no room");
  registry.disconnect("p", 20);
  EXPECT_FALSE(registry.status("a").jobs(0).proxies(0).connected());
  EXPECT_EQ(registry.status("").proxies(0).since_unix_ms(), 20);
}

TEST(Registry, AHelloTellsWhatIsInForce) {
  Registry registry;
  push(registry, request("a", {}));
  auto h = hello("p");
  auto& in_force = *h.add_in_force();
  in_force.set_job("a");
  in_force.set_version(1);
  ASSERT_TRUE(registry.connect(h, 10).ok());
  EXPECT_EQ(registry.status("a").jobs(0).proxies(0).newest(), control::ACKED);
}

TEST(Registry, AfterLostStateAVersionInForceIsNotGivenAgain) {
  Registry registry;
  auto h = hello("p");
  auto& in_force = *h.add_in_force();
  in_force.set_job("a");
  in_force.set_version(5);
  ASSERT_TRUE(registry.connect(h, 10).ok());
  EXPECT_EQ(push(registry, request("a", {})), 6U);
  EXPECT_EQ(registry.status("a").jobs(0).proxies(0).newest(), control::WAITING);
}

TEST(Registry, AProxyAheadOfALostStateIsWaitedFor) {
  Registry registry;
  push(registry, request("a", {}));
  auto h = hello("p");
  auto& in_force = *h.add_in_force();
  in_force.set_job("a");
  in_force.set_version(5);
  ASSERT_TRUE(registry.connect(h, 10).ok());
  EXPECT_EQ(registry.status("a").jobs(0).proxies(0).newest(), control::WAITING);
  registry.answer("p", answer("a", 1, true));
  EXPECT_EQ(registry.status("a").jobs(0).proxies(0).newest(), control::ACKED);
}

TEST(Registry, VersionsThatWereNeverSentAreIgnored) {
  Registry registry;
  auto h = hello("p");
  auto& in_force = *h.add_in_force();
  in_force.set_job("a");
  in_force.set_version(UINT64_MAX);
  ASSERT_TRUE(registry.connect(h, 10).ok());
  EXPECT_EQ(push(registry, request("a", {})), 1U);
  registry.answer("p", answer("a", 7, true));
  EXPECT_EQ(registry.status("a").jobs(0).proxies(0).newest(), control::WAITING);
  EXPECT_EQ(push(registry, request("a", {})), 2U);
}

TEST(Registry, AnswersOfStrangersChangeNothing) {
  Registry registry;
  registry.answer("nobody", answer("a", 1, true));
  ASSERT_TRUE(registry.connect(hello("p"), 10).ok());
  registry.answer("p", answer("no such job", 1, true));
  EXPECT_EQ(registry.status("").jobs_size(), 0);
  EXPECT_FALSE(registry.connect(hello(""), 10).ok());
}

}  // namespace
}  // namespace tictac
