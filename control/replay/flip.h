#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "control/replay/plan.h"
#include "control/replay/result.h"
#include "control/replay/schedules.h"
#include "control/replay/step_runner.h"
#include "dataplane/base/clock.h"

namespace tictac::replay {

// One step of the plan's last job by the TIC order, whose reverse is pushed in the middle of it; again until
// the push did come in the middle, the last try counts whatever it was. `predicted`: the step's time by TIC.
absl::StatusOr<FlipResult> run_flip(const Plan& plan, StepRunner& runner, Schedules& schedules,
                                    Duration predicted, uint64_t seed);

// Fills the counts from the completions; `version` is the reversed order's.
void judge_flip(uint64_t version, FlipResult& result);

}  // namespace tictac::replay
