#include "dataplane/transport/session/late_meter.h"

#include <algorithm>

namespace tictac {
namespace {

// Microseconds from `from` to `to`, both low 32 bits of one clock.
int32_t between(uint32_t from, uint32_t to) { return static_cast<int32_t>(to - from); }

}  // namespace

uint16_t LateMeter::level_of(Rank rank) {
  return static_cast<uint16_t>(std::min(rank.value(), RankQueue::kLevels - 1));
}

RankQueue& LateMeter::begun(JobId job) {
  if (begun_.size() <= job.value()) begun_.resize(job.value() + size_t{1});
  auto& queue = begun_[job.value()];
  if (!queue) queue = std::make_unique<RankQueue>();
  return *queue;
}

uint64_t LateMeter::on_begin(Stream& stream, uint32_t accepted_at_us, uint32_t slack_us) {
  stream.arriving = true;
  stream.arrival.accepted_at_us = accepted_at_us;
  stream.arrival.level = level_of(stream.arrival.rank);
  begun(stream.arrival.job).push_back(stream.arrival);
  uint64_t late = 0;
  for (size_t back = 1; back <= std::min(logged_, log_.size()); ++back) {
    Arrival& arrival = log_[(logged_ - back) % log_.size()];
    if (between(accepted_at_us + slack_us, arrival.sent_at_us) <= 0) break;
    const bool worse = arrival.job == stream.arrival.job.value() &&
                       arrival.version == stream.arrival.version.value() &&
                       arrival.rank > stream.arrival.rank.value();
    if (!worse || arrival.late) continue;
    arrival.late = true;
    ++late;
  }
  return late;
}

uint64_t LateMeter::on_packet(const Stream& stream, uint32_t sent_at_us, uint32_t slack_us) {
  const RankQueue& queue = begun(stream.arrival.job);
  bool late = false;
  if (!queue.empty() && queue.best_level() < level_of(stream.arrival.rank)) {
    const auto& best = static_cast<const ArrivalNode&>(*queue.front());
    late = best.version == stream.arrival.version && between(best.accepted_at_us + slack_us, sent_at_us) > 0;
  }
  log_[logged_++ % log_.size()] = Arrival{.sent_at_us = sent_at_us,
                                          .job = stream.arrival.job.value(),
                                          .late = late,
                                          .rank = stream.arrival.rank.value(),
                                          .version = stream.arrival.version.value()};
  return late ? 1 : 0;
}

void LateMeter::on_end(Stream& stream) {
  if (!stream.arriving) return;
  stream.arriving = false;
  begun(stream.arrival.job).remove(stream.arrival);
}

void LateMeter::on_rerank(Stream& stream, Rank rank, ScheduleVersion version, uint32_t valid_from_us) {
  if (stream.arriving) begun(stream.arrival.job).remove(stream.arrival);
  stream.arrival.rank = rank;
  stream.arrival.version = version;
  if (!stream.arriving) return;
  stream.arrival.level = level_of(rank);
  if (between(stream.arrival.accepted_at_us, valid_from_us) > 0)
    stream.arrival.accepted_at_us = valid_from_us;
  begun(stream.arrival.job).push_back(stream.arrival);
}

}  // namespace tictac
