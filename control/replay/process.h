#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/base/clock.h"

namespace tictac::replay {

// A child process: ended, first kindly and then not, when its owner goes. It also ends by itself when this
// process dies.
class Process {
 public:
  // Runs a program; what it prints goes to `log`.
  static absl::StatusOr<Process> spawn(const std::vector<std::string>& arguments, const std::string& log);
  // Runs a function in a copy of this process. Only before this process has started threads.
  static absl::StatusOr<Process> fork_into(const std::string& name, const std::function<void()>& body);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  // OK while it runs; afterwards an error with its name, how it ended and the last line that it printed.
  absl::Status running();
  void signal(int number) const;
  // Waits for its end, SIGKILL after `limit`.
  void stop(Duration limit);
  pid_t pid() const { return pid_; }
  const std::string& name() const { return name_; }

 private:
  Process(std::string name, std::string log, pid_t pid)
      : name_(std::move(name)), log_(std::move(log)), pid_(pid) {}

  std::string name_;
  std::string log_;
  pid_t pid_ = -1;
};

// Sleeps; a signal may end it early.
void sleep_for(Duration span);

}  // namespace tictac::replay
