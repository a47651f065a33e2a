#pragma once

#include "absl/status/status.h"

namespace tictac::replay {

// From now on the first SIGINT or SIGTERM is only noted, so that a replay can stop its processes and remove
// its folder; the second one kills as ever. Call it once, after the last fork without exec: copies of this
// process would inherit it.
void catch_interrupts();

// kCancelled once such a signal has come. Any thread. Waits of this folder ask at least every 200 ms.
absl::Status interrupted();

}  // namespace tictac::replay
