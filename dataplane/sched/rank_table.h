#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "dataplane/base/types.h"

namespace tictac {

// What a schedule says, as control hands it over.
struct ScheduleEntries {
  std::string job;
  ScheduleVersion version;
  std::vector<std::pair<std::string, Rank>> entries;  // a name once; ranks may have gaps and ties
  std::optional<Rank> default_rank;  // of names without an entry; none: the policy `auto` decides
};

// Snapshot of a schedule: name -> level, the form in which the dataplane reads it. Immutable, so that one
// thread builds it, one atomic pointer publishes it and the lcore reads it without a lock.
//
// Ranks are made dense: the k-th distinct rank becomes level k. Above kMaxLevels distinct ranks neighbours
// share a level (levels_shared() counts the distinct ranks that lost their own).
class RankTable {
 public:
  static constexpr size_t kMaxLevels = 4096;

  explicit RankTable(const ScheduleEntries& schedule);

  std::string_view job() const { return job_; }
  ScheduleVersion version() const { return version_; }

  // Level of the name's entry; none when it has no entry.
  std::optional<Rank> find(std::string_view name) const;
  // Level of names without an entry, if the schedule gives one.
  std::optional<Rank> default_level() const { return default_level_; }
  // Levels in use; names that `auto` ranks come after them.
  size_t levels() const { return levels_; }
  size_t size() const { return level_of_.size(); }
  size_t levels_shared() const { return levels_shared_; }

 private:
  std::string job_;
  ScheduleVersion version_;
  absl::flat_hash_map<std::string, Rank> level_of_;
  std::optional<Rank> default_level_;
  size_t levels_ = 0;
  size_t levels_shared_ = 0;
};

}  // namespace tictac
