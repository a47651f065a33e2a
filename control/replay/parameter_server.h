#pragma once

#include "control/replay/channel.h"
#include "control/replay/plan.h"

namespace tictac::replay {

// The PS application's process: serves the parameters in the order in which requests arrive and, in training,
// fetches the gradients, asked for when the step is prepared. Returns when the conductor has gone.
void run_parameter_server(const Plan& plan, Channel channel);

}  // namespace tictac::replay
