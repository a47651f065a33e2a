#pragma once

#include "control/replay/channel.h"
#include "control/replay/plan.h"

namespace tictac::replay {

// The worker application's process: asks for all parameters of a step at once in a shuffled order, runs the
// recorded operations as their inputs arrive and, in training, answers the PS's requests for gradients as
// their ops end. Returns when the conductor has gone.
void run_worker(const Plan& plan, Channel channel);

}  // namespace tictac::replay
