#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "control/schedule/schedule.pb.h"

namespace tictac {

using SchedulePtr = std::shared_ptr<const control::Schedule>;

// What the daemon knows: the newest schedule of each job, and which proxy has which version in force. No I/O,
// no lock, no clock: the server guards it and gives the time (milliseconds since 1970).
class Registry {
 public:
  // A schedule from the store, at start.
  void restore(SchedulePtr schedule, int64_t pushed_ms);

  // Checks a push; the schedule it would make, with the next version. Nothing is changed.
  absl::StatusOr<SchedulePtr> prepare(const control::PushRequest& request) const;
  // The prepared schedule is on disk: it is the newest now.
  void commit(SchedulePtr schedule, int64_t now_ms);

  absl::Status connect(const control::WatchRequest::Hello& hello, int64_t now_ms);
  void disconnect(const std::string& proxy, int64_t now_ms);
  void answer(const std::string& proxy, const control::WatchRequest::Answer& answer);

  std::vector<SchedulePtr> all_newest() const;
  control::StatusReply status(const std::string& job) const;

 private:
  struct Job {
    SchedulePtr newest;
    int64_t pushed_ms = 0;
  };
  struct Stand {
    uint64_t in_force = 0;
    uint64_t answered = 0;  // last version answered
    bool accepted = false;
    std::string reason;
  };
  struct Proxy {
    int connections = 0;
    int64_t since_ms = 0;
    std::map<std::string, Stand> jobs;
  };
  static control::Standing standing_of(const Stand* stand, uint64_t version);

  std::map<std::string, Job> jobs_;
  std::map<std::string, Proxy> proxies_;
};

}  // namespace tictac
