#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "control/replay/channel.h"
#include "control/replay/plan.h"
#include "control/replay/process.h"
#include "control/replay/sidecars.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/units.h"

namespace tictac::replay {

// What one step gave, at both ends.
struct StepOutcome {
  Duration step{0};  // from the first request to the last op or gradient
  uint64_t order_hash = 0;
  uint64_t bytes_verified = 0;
  uint64_t mismatches = 0;
  Counters counters;  // of both sidecars, in this step
};

// All processes of a replay (tictacd, two sidecars, the PS's and the worker's application), and one step run
// by them. When one of them dies, or a signal came, every call says so instead of what it led to. One thread.
class StepRunner {
 public:
  // Forks: only before this process has threads. `plan` is borrowed. Errors name the process that failed.
  static absl::StatusOr<std::unique_ptr<StepRunner>> start(const Plan& plan, Rate link_rate, uint32_t mtu);
  // Stops them all.
  ~StepRunner();
  StepRunner(const StepRunner&) = delete;
  StepRunner& operator=(const StepRunner&) = delete;

  // Both applications join every job and take their memory.
  absl::Status connect();
  // One step of a job (index into Plan::jobs). `completions` (may be null) gets the worker's; `meanwhile`
  // (may be empty) runs here while the step runs.
  absl::StatusOr<StepOutcome> run(uint32_t job, uint64_t step, uint64_t seed,
                                  std::vector<Completion>* completions,
                                  const std::function<absl::Status()>& meanwhile);
  // OK while no signal came and all but tictacd run: steps go on without it.
  absl::Status running();
  // How often that is looked at.
  static constexpr Duration kAliveEvery = 200ms;

 private:
  // An application process and our end of its channel.
  struct Application {
    Process process;
    Channel channel;
    Counters counters{};  // of its sidecar, as last told
  };

  StepRunner(Application ps, Application worker, Sidecars sidecars);
  static absl::StatusOr<Application> start_application(const char* name, const Plan& plan,
                                                       void (*body)(const Plan&, Channel));
  std::array<Application*, 2> applications() { return {&ps_, &worker_}; }
  absl::StatusOr<Reply> ask(Application& application, const Command& command);
  absl::StatusOr<Reply> reply_of(Application& application, Duration limit,
                                 std::vector<Completion>* completions);
  absl::Status reason_of(const absl::Status& seen);

  Application ps_;
  Application worker_;
  Sidecars sidecars_;
};

}  // namespace tictac::replay
