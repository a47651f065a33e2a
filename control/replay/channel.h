#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/base/clock.h"

namespace tictac::replay {

// What the conductor tells an application process.
enum class CommandKind : uint32_t {
  kConnect = 1,  // to the sidecar; be ready for every policy's job
  kPrepare = 2,  // the step's content, and the requests that come before it
  kRun = 3,      // worker only: the step
  kCollect = 4,  // the step's result
};
struct Command {
  CommandKind kind{};
  uint32_t job = 0;  // index into Plan::jobs
  uint64_t step = 0;
  uint64_t seed = 0;  // of the order in which the worker asks
};

// An application gives a step up after this time.
inline constexpr Duration kStepLimit = 60s;

// What a sidecar counted.
struct Counters {
  uint64_t inversions = 0;
  uint64_t late_packets = 0;
  uint64_t packets = 0;
  uint64_t retransmits = 0;

  Counters& operator+=(const Counters& more);
  friend Counters operator-(const Counters& after, const Counters& before);
};

// What an application process answers to every command.
struct Reply {
  bool ok = true;
  std::array<char, 400> error{};  // one line
  int64_t start_ns = 0;           // CLOCK_MONOTONIC
  int64_t end_ns = 0;             // of the last op (worker), of the last gradient (PS)
  uint64_t bytes_verified = 0;
  uint64_t mismatches = 0;
  uint64_t order_hash = 0;  // of the order in which transfers completed
  Counters counters;        // of its sidecar, since the process started

  // Turns the reply into a failure, its text cut to what fits.
  void fail(std::string_view text);
};

// One completed fetch, in the order of completion.
struct Completion {
  uint32_t recv = 0;
  uint32_t rank = 0;
  int64_t time_ns = 0;
  uint64_t schedule_version = 0;
};

// One end of a pair of sockets between the conductor and an application process. Both are of the same
// program, so structs travel as they are. Every read has a limit.
class Channel {
 public:
  static absl::StatusOr<std::array<Channel, 2>> make_pair();
  Channel() = default;
  explicit Channel(int fd) : fd_(fd) {}
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;
  ~Channel();

  absl::Status send(const Command& command);
  absl::Status send(const Reply& reply, const std::vector<Completion>& completions);
  // The next command; kNotFound after `limit`, kUnavailable when the other end has gone.
  absl::StatusOr<Command> receive_command(Duration limit);
  absl::StatusOr<Reply> receive_reply(Duration limit, std::vector<Completion>* completions);

 private:
  absl::Status wait_readable(Duration limit);
  absl::Status write_all(const void* data, size_t size);
  absl::Status read_all(void* data, size_t size, Duration limit);

  int fd_ = -1;
};

}  // namespace tictac::replay
