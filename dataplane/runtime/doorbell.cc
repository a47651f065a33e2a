#include "dataplane/runtime/doorbell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace tictac {

Doorbell::Doorbell() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (fd_ < 0) std::abort();  // no descriptors left at start: nothing can work
}

Doorbell::~Doorbell() { close(fd_); }

void Doorbell::ring() {
  if (asleep_.fetch_or(0, std::memory_order_acq_rel) == 0) return;
  const uint64_t one = 1;
  // Before the write: it may hand this CPU to the owner, which must find the flag or would wake again and
  // again until this thread goes on. After it too: a resume() in between has taken the first one and found
  // nothing to read.
  rung_.store(true, std::memory_order_release);
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);  // full means readable: as good
  rung_.store(true, std::memory_order_release);
}

void Doorbell::resume() {
  asleep_.store(0, std::memory_order_relaxed);
  // A ring that is under way leaves fd_ readable: the next sleep ends at once and finds the flag.
  if (!rung_.exchange(false, std::memory_order_acquire)) return;
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t taken = read(fd_, &count, sizeof count);  // empty is fine
}

}  // namespace tictac
