#pragma once

#include <atomic>

namespace tictac {

// An eventfd that is rung only while its owner sleeps, so that a busy lcore costs its senders no system call.
// ring() after the work has been made visible; prepare_to_sleep() before looking for work a last time: one of
// the two sides sees the other (both order by a sequentially consistent fence).
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
    asleep_.store(true, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (is_empty()) return true;
    resume();
    return false;
  }
  void resume();
  int fd() const { return fd_; }

 private:
  std::atomic<bool> asleep_{false};
  std::atomic<bool> rung_{false};  // fd_ may be readable; saves the owner a system call a sleep
  int fd_;
};

}  // namespace tictac
