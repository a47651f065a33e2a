#include "control/replay/interrupt.h"

#include <signal.h>

#include <atomic>

namespace tictac::replay {
namespace {

std::atomic<bool> signalled{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler writes it");

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { signalled.store(true); };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // no SA_RESTART: waits end at once
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

absl::Status interrupted() {
  return signalled.load() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

}  // namespace tictac::replay
