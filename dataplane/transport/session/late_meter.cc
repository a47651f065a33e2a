#include "dataplane/transport/session/late_meter.h"

#include <algorithm>

namespace tictac {
namespace {

// Microseconds from `from` to `to`, both low 32 bits of one clock.
int32_t between(uint32_t from, uint32_t to) { return static_cast<int32_t>(to - from); }

}  // namespace

uint64_t LateMeter::on_bytes(ArrivingTransfer& transfer, uint32_t accepted_us, uint32_t sent_us,
                             uint32_t slack_us) {
  if (transfer.has_floor && between(accepted_us, transfer.floor_us) > 0) accepted_us = transfer.floor_us;
  const uint32_t late_after = accepted_us + slack_us;
  // What was judged for the same or older bytes need not be judged again.
  const bool goes_on = transfer.judged_upto > 0 && between(transfer.judged_for_us, accepted_us) >= 0;
  const uint64_t oldest = logged_ - std::min<uint64_t>(logged_, kLogSize);
  const uint64_t stop = std::max(oldest, goes_on ? transfer.judged_upto : 0);
  uint64_t late = 0;
  for (uint64_t i = behind_newest_worse(transfer.rank); i > stop; --i) {
    Packet& packet = log_[(i - 1) % kLogSize];
    // Cut before the bytes were accepted, or so long ago that the clock has wrapped: so are those before it.
    if (between(accepted_us, packet.sent_us) < 0 || between(packet.sent_us, sent_us + slack_us) < 0) break;
    const bool worse =
        packet.rank > transfer.rank && packet.job == transfer.job && packet.version == transfer.version;
    if (!worse || packet.late || between(late_after, packet.sent_us) <= 0) continue;
    packet.late = true;
    ++late;
  }
  transfer.judged_upto = logged_;
  transfer.judged_for_us = accepted_us;
  return late;
}

uint64_t LateMeter::behind_newest_worse(Rank rank) const {
  uint64_t begin = maxima_begin_;
  uint64_t end = maxima_end_;
  while (begin < end) {
    const uint64_t middle = begin + (end - begin) / 2;
    if (log_[maxima_[middle % kLogSize] % kLogSize].rank > rank) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin == maxima_begin_ ? 0 : maxima_[(begin - 1) % kLogSize] + 1;
}

void LateMeter::on_packet(const ArrivingTransfer& transfer, uint32_t sent_us) {
  const auto rank_at = [this](uint64_t i) { return log_[maxima_[i % kLogSize] % kLogSize].rank; };
  if (maxima_begin_ < maxima_end_ && maxima_[maxima_begin_ % kLogSize] + kLogSize == logged_) ++maxima_begin_;
  while (maxima_begin_ < maxima_end_ && rank_at(maxima_end_ - 1) <= transfer.rank) --maxima_end_;
  maxima_[maxima_end_++ % kLogSize] = logged_;
  log_[logged_++ % kLogSize] = {.sent_us = sent_us,
                                .rank = transfer.rank,
                                .version = transfer.version,
                                .job = transfer.job,
                                .late = false};
}

void LateMeter::on_rerank(ArrivingTransfer& transfer, Rank rank, ScheduleVersion version,
                          uint32_t valid_from_us) {
  transfer.rank = rank;
  transfer.version = version;
  transfer.has_floor = true;
  transfer.floor_us = valid_from_us;
  transfer.judged_upto = 0;
}

}  // namespace tictac
