#pragma once

#include <cstddef>

#include "dataplane/base/clock.h"

namespace tictac {

// Work that shares the lcore with packet I/O: a gateway's rings, a mailbox. Lcore only unless said.
class LcoreTask {
 public:
  virtual ~LcoreTask() = default;
  // Does a bounded piece of work and returns how many items it handled; 0 lets the loop think of sleeping.
  virtual size_t poll(Time now) = 0;
  // When poll must run again though nothing arrives; kNever if it need not.
  virtual Time next_deadline() const = 0;
  // The loop is about to sleep: make the other side ring `wake_fd` for new work. False when work is there
  // already: the loop polls once more instead. resume() follows every successful prepare_to_sleep().
  virtual bool prepare_to_sleep() = 0;
  virtual void resume() = 0;
  // Readable when there is work (an eventfd or epoll fd); -1 when the task has none. Constant.
  virtual int wake_fd() const = 0;
};

}  // namespace tictac
