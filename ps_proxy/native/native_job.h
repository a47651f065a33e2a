#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/types.h"
#include "dataplane/sched/rank_table.h"
#include "ps_proxy/native/auto_ranks.h"
#include "ps_proxy/native/transfers.h"

namespace tictac::native {

// A tensor's name in a job, while a client registered it or a request waits for it.
struct NativeName {
  std::string text;
  uint32_t users = 0;
  ClientSession* server = nullptr;
  tictac_name_id server_name = kNone;  // the server's number for it
  IntrusiveList<Request> parked;

  std::optional<AutoKey> key;
  Rank rank;           // valid for `epoch`
  uint64_t epoch = 0;  // 0: none
};

// What one job did here; only grows, except `parked`.
struct JobCounters {
  uint64_t fetches = 0;
  uint64_t fetches_complete = 0;
  uint64_t fetches_failed = 0;
  uint64_t bytes_fetched = 0;
  uint64_t requests = 0;
  uint64_t answers_complete = 0;
  uint64_t answers_failed = 0;
  uint64_t bytes_answered = 0;
  uint64_t reranks = 0;
  uint64_t parked = 0;
  uint64_t requests_refused = 0;  // too many were parked
};

// One job on this host: its names, who serves them, and the order in force. A fetch's rank comes from
// 1. the schedule's entry for one of the name's forms (name_forms.h);
// 2. the schedule's default rank, if it has one;
// 3. policy auto by the number in the name, behind the schedule's levels;
// 4. else the level behind all others, where order of arrival decides.
// Lcore only.
class NativeJob {
 public:
  explicit NativeJob(std::string_view name) : name_(name) {}

  const std::string& name() const { return name_; }
  ScheduleVersion version() const { return table_ ? table_->version() : ScheduleVersion(); }

  // Counts a user; release() gives it back, and the name goes with the last one.
  NativeName& acquire(std::string_view text);
  void release(NativeName& name);
  size_t under_way() const { return under_way_.size(); }
  size_t name_count() const { return names_.size(); }

  // Puts a schedule in force (null: none) and returns the one before, for another thread to destroy. What is
  // under way keeps its rank until next_stale() has named it.
  std::unique_ptr<const RankTable> set_table(std::unique_ptr<const RankTable> table);
  // Makes the ranks of policy auto exact again when it is time.
  void refresh(Time now);
  Time refresh_due() const { return auto_.refresh_due(); }

  // Gives a new fetch its rank and puts it in the list of what is under way.
  void begin(Fetch& fetch, Time now);
  void end(Fetch& fetch) { under_way_.remove(fetch); }
  // A fetch whose rank is of an older order, with the present one put in; null when all are up to date.
  // `changed` says whether the rank differs.
  Fetch* next_stale(bool* changed);

  JobCounters counters;

 private:
  Rank rank_of(NativeName& name);
  Rank compute(const NativeName& name) const;

  std::string name_;
  absl::flat_hash_map<std::string_view, std::unique_ptr<NativeName>> names_;  // keys lie in the values
  std::unique_ptr<const RankTable> table_;
  AutoRanks auto_;
  uint64_t epoch_ = 1;
  IntrusiveList<Fetch> under_way_;  // by epoch, oldest first
};

}  // namespace tictac::native
