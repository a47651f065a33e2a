#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/sched/rank_queue.h"
#include "dataplane/transport/stream/stream.h"

namespace tictac {

// Counts late packets where they are received, by the sender's clock: a packet of a worse transfer that left
// more than `slack` (one RTT and the backlog) after a better one of the same job and schedule version was
// accepted, while that one is incomplete.
//
// A better transfer shows itself, with its accept time, only by its first byte. So a packet is judged twice:
// when it arrives, against the best transfer that has begun; and, from a bounded log, when a better transfer
// begins.
class LateMeter {
 public:
  LateMeter() : log_(kLogSize) {}

  // The first byte of a transfer came. Returns how many logged packets turn out late.
  uint64_t on_begin(Stream& stream, uint32_t accepted_at_us, uint32_t slack_us);
  // A packet whose best transfer is `stream` (still begun or just complete). Returns 1 if it is late.
  uint64_t on_packet(const Stream& stream, uint32_t sent_at_us, uint32_t slack_us);
  // The last byte came, or nobody waits for it any more.
  void on_end(Stream& stream);
  // The receiver gave the transfer another rank; what is on its way then follows the old one, until
  // `valid_from_us`.
  void on_rerank(Stream& stream, Rank rank, ScheduleVersion version, uint32_t valid_from_us);

 private:
  static constexpr size_t kLogSize = 4096;
  struct Arrival {
    uint32_t sent_at_us = 0;
    uint16_t job = 0;
    bool late = true;  // an empty entry never counts
    uint32_t rank = 0;
    uint64_t version = 0;
  };

  RankQueue& begun(JobId job);
  static uint16_t level_of(Rank rank);

  std::vector<std::unique_ptr<RankQueue>> begun_;  // by job
  std::vector<Arrival> log_;
  size_t logged_ = 0;
};

}  // namespace tictac
