#include "dataplane/runtime/mailbox.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tictac {
namespace {

constexpr size_t kPerPoll = 16;

}  // namespace

Mailbox::Mailbox(size_t capacity) : ring_(capacity), used_(capacity * 2) {}
Mailbox::~Mailbox() = default;

bool Mailbox::post_command(std::unique_ptr<Command> command) {
  {
    const std::lock_guard lock(senders_);
    while (used_.try_pop()) {
    }
    if (!ring_.try_push(std::move(command))) return false;
  }
  doorbell_.ring();
  return true;
}

size_t Mailbox::poll(Time now) {
  size_t n = 0;
  for (; n < kPerPoll; ++n) {
    std::optional<std::unique_ptr<Command>> command = ring_.try_pop();
    if (!command) break;
    (*command)->run(now);
    // used_ holds all that can be under way: senders empty it before they push.
    used_.try_push(std::move(*command));
  }
  return n;
}

bool Mailbox::Call::Ticket::claim() {
  State expected = State::kWaiting;
  return shared_->state.compare_exchange_strong(expected, State::kRunning);
}

void Mailbox::Call::Ticket::done() {
  shared_->state.store(State::kDone);
  shared_->state.notify_one();
}

bool Mailbox::Call::wait(Duration limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  auto nap = std::chrono::microseconds(20);
  while (shared_->state.load() == State::kWaiting && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, std::chrono::microseconds(1000));
  }
  State expected = State::kWaiting;
  if (shared_->state.compare_exchange_strong(expected, State::kGivenUp)) return false;
  // Claimed: the work does not block, so this ends soon.
  while (shared_->state.load() == State::kRunning) shared_->state.wait(State::kRunning);
  return true;
}

}  // namespace tictac
