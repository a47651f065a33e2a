#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace tictac {

// tictacd's server: jobs and schedules over gRPC on a Unix socket, state in SQLite. Thread-safe; gRPC's
// threads run it.
class ScheduleServer {
 public:
  struct Config {
    std::string socket;
    std::string state;     // path of the SQLite file
    uint32_t mode = 0600;  // of the socket
  };
  // Claims the socket, loads the state, listens. Errors are one line with the cure.
  static absl::StatusOr<std::unique_ptr<ScheduleServer>> start(const Config& config);
  // Ends all calls within a second.
  virtual ~ScheduleServer() = default;
};

}  // namespace tictac
