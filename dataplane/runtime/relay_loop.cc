#include "dataplane/runtime/relay_loop.h"

#include <algorithm>
#include <thread>

#include "dataplane/runtime/steady_clock.h"

namespace tictac {
namespace {

constexpr Duration kLongestNap = 200us;
constexpr Duration kWorthANap = 20us;

}  // namespace

void run_relay(Relay& relay, Duration exit_after_idle, const std::atomic<bool>& stop) {
  Time last_work = steady_now();
  while (!stop.load(std::memory_order_relaxed)) {
    const Time now = steady_now();
    if (relay.poll_once(now) > 0 || !relay.empty()) last_work = now;
    if (exit_after_idle > Duration(0) && now - last_work >= exit_after_idle) return;
    const Duration idle = last_work == now ? relay.next_deadline(now) - now : kLongestNap;
    if (idle >= kWorthANap) std::this_thread::sleep_for(std::min(idle, kLongestNap));
  }
}

}  // namespace tictac
