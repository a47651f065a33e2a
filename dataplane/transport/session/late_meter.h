#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/transport/stream/stream.h"

namespace tictac {

// Counts the late packets of one session where they are received, by the sender's clock.
//
// Rule: packet P, whose first ranked frame is of transfer W, is late if some transfer B of the same job and
// schedule version with a better rank had bytes that (1) the sender could have sent since time A (the accept
// time in STREAM frames: when they were there, the flow-control limit let them go, and the rank was the
// present one), (2) had not arrived when P did, and P was cut later than A + slack (one RTT and the backlog).
//
// Only the bytes themselves tell A, so packets are judged when B's missing bytes come, from a log of the
// newest kLogSize packets. Each packet counts once. Not judged: packets older than the log, and bytes that
// never come because their transfer was given up.
class LateMeter {
 public:
  static constexpr size_t kLogSize = 4096;

  LateMeter() : log_(kLogSize), maxima_(kLogSize) {}

  // New bytes of `transfer` came in a packet cut at `sent_us`. Returns how many logged packets turn out late.
  uint64_t on_bytes(ArrivingTransfer& transfer, uint32_t accepted_us, uint32_t sent_us, uint32_t slack_us);
  // A packet came whose first ranked frame is of `transfer`.
  void on_packet(const ArrivingTransfer& transfer, uint32_t sent_us);
  // The receiver gave the transfer another rank; what the sender cuts before `valid_from_us` may follow the
  // old one.
  static void on_rerank(ArrivingTransfer& transfer, Rank rank, ScheduleVersion version,
                        uint32_t valid_from_us);

 private:
  struct Packet {
    uint32_t sent_us = 0;
    Rank rank;
    ScheduleVersion version;
    JobId job;
    bool late = false;
  };

  // Place behind the newest logged packet whose rank is worse than `rank`; 0 when there is none.
  uint64_t behind_newest_worse(Rank rank) const;

  std::vector<Packet> log_;  // ring
  uint64_t logged_ = 0;
  // Places of the logged packets that no later one is as bad as, ranks falling (a ring too): where ranks come
  // in order, one look here ends the search for late packets.
  std::vector<uint64_t> maxima_;
  uint64_t maxima_begin_ = 0;
  uint64_t maxima_end_ = 0;
};

}  // namespace tictac
