#include "dataplane/runtime/mailbox.h"

#include <poll.h>

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace tictac {
namespace {

bool readable(int fd) {
  pollfd p = {.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&p, 1, 0) == 1;
}

TEST(Mailbox, RunsInOrderWithTheLoopsTime) {
  Mailbox mailbox(8);
  std::vector<int> order;
  Time seen{};
  EXPECT_TRUE(mailbox.post([&](Time) { order.push_back(1); }));
  EXPECT_TRUE(mailbox.post([&](Time now) {
    order.push_back(2);
    seen = now;
  }));
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(mailbox.poll(Time(5s)), 2U);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_EQ(seen, Time(5s));
  EXPECT_EQ(mailbox.poll(Time(6s)), 0U);
}

TEST(Mailbox, FullRefusesAndRecovers) {
  Mailbox mailbox(4);
  int ran = 0;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(mailbox.post([&](Time) { ++ran; }));
  EXPECT_FALSE(mailbox.post([&](Time) { ran += 100; }));
  mailbox.poll(Time{});
  EXPECT_TRUE(mailbox.post([&](Time) { ++ran; }));
  mailbox.poll(Time{});
  EXPECT_EQ(ran, 5);
}

TEST(Mailbox, WhatHasRunIsDestroyedBySendersNotByTheLcore) {
  Mailbox mailbox(4);
  auto token = std::make_shared<int>(1);
  mailbox.post([token](Time) {});
  mailbox.poll(Time{});
  EXPECT_EQ(token.use_count(), 2);
  mailbox.post([](Time) {});
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Mailbox, BellRingsOnlyForASleeper) {
  Mailbox mailbox(8);
  mailbox.post([](Time) {});
  EXPECT_FALSE(readable(mailbox.wake_fd()));
  EXPECT_FALSE(mailbox.prepare_to_sleep());  // work is there
  mailbox.poll(Time{});
  EXPECT_TRUE(mailbox.prepare_to_sleep());
  mailbox.post([](Time) {});
  EXPECT_TRUE(readable(mailbox.wake_fd()));
  mailbox.resume();
  EXPECT_FALSE(readable(mailbox.wake_fd()));
  mailbox.post([](Time) {});
  EXPECT_FALSE(readable(mailbox.wake_fd()));
}

TEST(Mailbox, CallGivesUpAndThenNeverRuns) {
  Mailbox mailbox(8);
  int ran = 0;
  EXPECT_FALSE(mailbox.call(2ms, [&](Time) { ++ran; }));
  mailbox.poll(Time{});
  EXPECT_EQ(ran, 0);
}

TEST(Mailbox, ManySendersLoseNothingWhileTheLcoreSleepsAndWakes) {
  Mailbox mailbox(16);
  std::atomic<bool> stop{false};
  uint64_t sum = 0;  // lcore's
  std::thread lcore([&] {
    while (!stop) {
      if (mailbox.poll(Time{}) > 0) continue;
      if (mailbox.prepare_to_sleep()) {
        pollfd p = {.fd = mailbox.wake_fd(), .events = POLLIN, .revents = 0};
        poll(&p, 1, 1000);
      }
      mailbox.resume();
    }
  });
  std::vector<std::thread> senders;
  for (int t = 0; t < 3; ++t) {
    senders.emplace_back([&] {
      for (uint64_t i = 1; i <= 2000; ++i) {
        while (!mailbox.call(5s, [&](Time) { sum += i; })) {
        }
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  stop = true;
  mailbox.post([](Time) {});
  lcore.join();
  EXPECT_EQ(sum, 3U * 2000 * 2001 / 2);
}

}  // namespace
}  // namespace tictac
