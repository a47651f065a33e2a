#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "control/schedule/schedule.pb.h"

namespace tictac {

// A proxy's side of Watch: gets the newest schedules of all jobs, answers each, and goes on by itself when
// the daemon goes away and comes back (a try every 250 ms at most). It remembers the last version accepted of
// each job and tells the daemon at every hello. Runs a thread of its own.
class WatchClient {
 public:
  // Called on the client's thread for every schedule; OK puts it in force (ack), an error keeps the last one
  // (nack).
  using OnSchedule = std::function<absl::Status(const control::Schedule&)>;

  WatchClient(std::string socket, std::string proxy, OnSchedule on_schedule);
  // Ends the stream and joins the thread; returns promptly.
  ~WatchClient();
  WatchClient(const WatchClient&) = delete;
  WatchClient& operator=(const WatchClient&) = delete;

  // Whether the stream stands now. Any thread.
  bool connected() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tictac
