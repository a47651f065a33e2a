#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/base/types.h"
#include "dataplane/sched/transfer_node.h"
#include "dataplane/transport/stream/receive_half.h"
#include "dataplane/transport/stream/send_half.h"

namespace tictac {

struct Stream;

// What the scheduler hands back; `stream` is null for a session's control frames.
struct StreamNode : TransferNode {
  Stream* stream = nullptr;
};

// What the receiving half is a transfer of, for the late-packet count. Times are the sender's, in us.
struct ArrivingTransfer {
  TransferClass transfer_class = TransferClass::kRanked;
  JobId job;
  Rank rank;
  ScheduleVersion version;

  // Of LateMeter: the log was judged up to here for bytes accepted at `judged_for_us`.
  uint64_t judged_upto = 0;
  uint32_t judged_for_us = 0;
  // After a local re-rank: what the sender cut before this follows the old rank.
  bool has_floor = false;
  uint32_t floor_us = 0;
};

// Frames about a stream that wait to be sent.
enum PendingFrame : uint8_t {
  kPendingOpen = 1,
  kPendingReset = 2,
  kPendingStop = 4,
  kPendingMaxStreamData = 8,
  kPendingRerank = 16,
};

// One bidirectional stream of a session. Pooled by StreamTable; plain state, the session holds the rules.
struct Stream {
  uint64_t id = 0;
  uint32_t slot = 0;
  uint32_t generation = 0;
  bool in_use = false;
  bool opened_by_us = false;
  bool told_abandoned = false;  // or answered: on_abandoned is no longer due

  StreamNode node;             // of the sending half
  ArrivingTransfer arrival;    // of the receiving half
  uint64_t rerank_number = 0;  // of the packet that brought the rank: an older one changes nothing

  SendHalf send;
  ReceiveHalf receive;

  // OPEN, kept until it was acknowledged.
  TransferClass answer_class = TransferClass::kRanked;
  bool request_is_empty = false;
  bool open_was_sent = false;
  uint64_t answer_limit = 0;
  std::vector<uint8_t> preamble;

  // Control frames to send, and RESET/STOP_SENDING that were not acknowledged yet.
  uint8_t pending = 0;
  uint8_t unacked = 0;
  uint32_t reset_code = 0;
  uint32_t stop_code = 0;
  Stream* next_control = nullptr;
  bool in_control_list = false;
};

}  // namespace tictac
