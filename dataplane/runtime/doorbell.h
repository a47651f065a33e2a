#pragma once

#include <atomic>
#include <cstdint>

namespace tictac {

// An eventfd that is rung only while its owner sleeps, so that a busy lcore costs its senders no system call.
// ring() after the work has been made visible; prepare_to_sleep() looks for work a last time. Both change
// asleep_ by read-modify-write, so one of the two comes second and sees what the other did.
class Doorbell {
 public:
  Doorbell();
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // Any thread.
  void ring();

  // Owner. `is_empty` looks for work a last time. True: may sleep until fd() is readable, resume() must
  // follow. False: there is work, and the bell is as after resume().
  template <typename IsEmpty>
  bool prepare_to_sleep(IsEmpty is_empty) {
    asleep_.exchange(1, std::memory_order_acq_rel);
    if (is_empty()) return true;
    resume();
    return false;
  }
  void resume();
  int fd() const { return fd_; }

 private:
  std::atomic<uint32_t> asleep_{0};
  std::atomic<bool> rung_{false};  // fd_ may be readable; saves the owner a system call a sleep
  int fd_;
};

}  // namespace tictac
