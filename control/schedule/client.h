#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "control/schedule/schedule.grpc.pb.h"
#include "dataplane/base/clock.h"

namespace tictac {

// The daemon's calls for tools. Each is bounded by `limit`; errors name the socket.
class ScheduleClient {
 public:
  explicit ScheduleClient(const std::string& socket);
  absl::StatusOr<control::PushReply> push(const control::PushRequest& request, Duration limit);
  absl::StatusOr<control::StatusReply> status(const std::string& job, Duration limit);
  // Asks until every connected proxy has answered the job's version, or `limit` is over; returns the last
  // status.
  absl::StatusOr<control::StatusReply> wait_for_answers(const std::string& job, uint64_t version,
                                                        Duration limit);

 private:
  absl::Status explain(const grpc::Status& status) const;

  std::string socket_;
  std::unique_ptr<control::Schedules::Stub> stub_;
};

// A channel to the daemon's socket, a path or "unix:PATH": no proxy from the environment, fast reconnects,
// nothing shared.
std::shared_ptr<grpc::Channel> make_channel(const std::string& socket);

}  // namespace tictac
