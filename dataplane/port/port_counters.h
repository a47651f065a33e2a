#pragma once

#include <cstdint>

namespace tictac {

// Written by the lcore only; others get copies through the mailbox.
struct PortCounters {
  uint64_t frames_in = 0;
  uint64_t bytes_in = 0;
  uint64_t frames_out = 0;
  uint64_t bytes_out = 0;
  uint64_t refused = 0;           // frames that the device did not take, each time they were offered
  uint64_t pool_empty = 0;        // allocate() returned less than asked for
  uint64_t segmented = 0;         // received in several buffers (larger than the MTU) and dropped
  uint64_t device_in_missed = 0;  // by the device, for want of descriptors or buffers
  uint64_t device_in_errors = 0;
  uint64_t device_out_errors = 0;
};

}  // namespace tictac
