#include "dataplane/sched/rank_table.h"

#include <algorithm>

#include "absl/strings/string_view.h"

namespace tictac {
namespace {

std::vector<Rank> distinct_ranks(const ScheduleEntries& schedule) {
  std::vector<Rank> ranks;
  ranks.reserve(schedule.entries.size() + 1);
  for (const auto& [name, rank] : schedule.entries) ranks.push_back(rank);
  if (schedule.default_rank) ranks.push_back(*schedule.default_rank);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace

RankTable::RankTable(const ScheduleEntries& schedule) : job_(schedule.job), version_(schedule.version) {
  const std::vector<Rank> ranks = distinct_ranks(schedule);
  levels_ = std::min(ranks.size(), kMaxLevels);
  levels_shared_ = ranks.size() - levels_;
  const auto level_of = [&](Rank rank) {
    const auto place =
        static_cast<size_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
    return Rank(static_cast<uint32_t>(levels_shared_ == 0 ? place : place * kMaxLevels / ranks.size()));
  };
  level_of_.reserve(schedule.entries.size());
  for (const auto& [name, rank] : schedule.entries) level_of_.emplace(name, level_of(rank));
  if (schedule.default_rank) default_level_ = level_of(*schedule.default_rank);
}

std::optional<Rank> RankTable::find(std::string_view name) const {
  const auto found = level_of_.find(absl::string_view(name.data(), name.size()));
  if (found == level_of_.end()) return std::nullopt;
  return found->second;
}

}  // namespace tictac
