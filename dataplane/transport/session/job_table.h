#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "dataplane/base/types.h"
#include "dataplane/sched/scheduler.h"

namespace tictac {

// Names of jobs to their numbers on this host; a new name is added to the scheduler with weight 1. Bounded,
// because names come from peers too.
class JobTable {
 public:
  static constexpr size_t kMostFromPeers = 192;  // the rest is left for our own applications

  explicit JobTable(Scheduler& scheduler) : scheduler_(scheduler) {}

  std::optional<JobId> find_or_add(std::string_view name) { return find_or_add(name, kMostJobs); }
  std::optional<JobId> find_or_add_for_peer(std::string_view name) {
    return find_or_add(name, kMostFromPeers);
  }
  std::string_view name(JobId id) const { return names_[id.value()]; }

 private:
  std::optional<JobId> find_or_add(std::string_view name, size_t most) {
    const absl::string_view key(name.data(), name.size());
    if (const auto found = ids_.find(key); found != ids_.end()) return found->second;
    if (ids_.size() >= most || name.empty() || name.size() > kMostNameBytes) return std::nullopt;
    const JobId id(static_cast<uint16_t>(names_.size()));
    names_.emplace_back(name);
    ids_.emplace(std::string(name), id);
    scheduler_.add_job(id, 1);
    return id;
  }

  Scheduler& scheduler_;
  absl::flat_hash_map<std::string, JobId> ids_;
  std::vector<std::string> names_;
};

}  // namespace tictac
