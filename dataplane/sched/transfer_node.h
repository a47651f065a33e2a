#pragma once

#include <cstdint>

#include "dataplane/base/types.h"

namespace tictac {

// How a transfer competes for the link.
enum class TransferClass : uint8_t {
  kControl = 0,  // requests, answers without a tensor, 0-byte answers: first, at most 5 % of the bytes
  kRanked = 1,   // tensors: by job, peer, rank, arrival
  kBulk = 2,     // what could not be classified: last, with a guaranteed 5 %
};

// A transfer as the scheduler sees it: who competes, not what is sent. Embedded in its owner (half a stream,
// a relay flow), which keeps it alive and in place while it is ready. The owner fills the first group before
// the node is first made ready and changes it afterwards through Scheduler::rerank only. Lcore only.
struct TransferNode {
  TransferClass transfer_class = TransferClass::kRanked;
  JobId job;
  PeerId peer;
  Rank rank;
  ScheduleVersion version;

  bool ready() const { return queued; }

  // The scheduler's own.
  TransferNode* previous = nullptr;
  TransferNode* next = nullptr;
  uint16_t level = 0;
  bool queued = false;
  uint8_t queue = 0;  // which of its lane's two queues holds it
};

}  // namespace tictac
