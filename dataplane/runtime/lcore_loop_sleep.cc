// The loop around poll_once: when and how it sleeps.
#include <poll.h>
#include <sys/prctl.h>

#include <array>
#include <ctime>

#include "dataplane/runtime/lcore_loop.h"
#include "dataplane/runtime/steady_clock.h"

namespace tictac {
namespace {

constexpr size_t kMaxWakeFds = 32;

void relax() { __builtin_ia32_pause(); }

}  // namespace

void LcoreLoop::run() {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // the default lets every sleep end 50 us late
  while (!stopping_.load(std::memory_order_relaxed)) {
    Time now = steady_now();
    if (poll_once(now) > 0) continue;
    const Duration wait = idle_.sleep_for(now, next_deadline(now), true);
    if (wait <= Duration{0}) {
      relax();
      continue;
    }
    const bool all_armed = arm();
    now = steady_now();
    // What came before everybody was armed rings no bell: look once more.
    if (poll_once(now) == 0) {
      const Duration sleep_time = idle_.sleep_for(now, next_deadline(now), all_armed);
      if (sleep_time > Duration{0}) sleep(sleep_time);
    }
    disarm();
  }
  poll_once(steady_now());  // what was said last (the endpoint's CLOSE) still goes out
}

void LcoreLoop::stop() {
  stopping_.store(true, std::memory_order_relaxed);
  stop_bell_.ring();
}

// Asks everybody to wake us. False when one cannot, or has work now: then only a nap is allowed.
bool LcoreLoop::arm() {
  bool all = stop_bell_.prepare_to_sleep([this] { return !stopping_.load(std::memory_order_relaxed); });
  port_armed_ = port_.prepare_to_sleep();
  all = all && port_armed_;
  for (armed_ = 0; armed_ < tasks_.size(); ++armed_) {
    if (!tasks_[armed_]->prepare_to_sleep()) return false;
    all = all && tasks_[armed_]->wake_fd() >= 0;
  }
  return all;
}

void LcoreLoop::disarm() {
  while (armed_ > 0) tasks_[--armed_]->resume();
  port_.resume();
  stop_bell_.resume();
}

void LcoreLoop::sleep(Duration duration) {
  std::array<pollfd, kMaxWakeFds> fds;
  size_t n = 0;
  const auto watch = [&](int fd) {
    if (fd >= 0 && n < fds.size()) fds[n++] = {.fd = fd, .events = POLLIN, .revents = 0};
  };
  watch(stop_bell_.fd());
  if (port_armed_) watch(port_.wake_fd());
  for (size_t i = 0; i < armed_; ++i) watch(tasks_[i]->wake_fd());
  const timespec timeout = {.tv_sec = duration.count() / 1'000'000'000,
                            .tv_nsec = duration.count() % 1'000'000'000};
  ++counters_.sleeps;
  if (ppoll(fds.data(), n, &timeout, nullptr) == 0) idle_.on_idle_sleep();
}

}  // namespace tictac
