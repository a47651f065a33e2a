#pragma once

#include <atomic>

#include "dataplane/base/clock.h"
#include "dataplane/relay/relay.h"

namespace tictac {

// Polls the relay on the calling thread until `stop` is set or, when `exit_after_idle` is not zero, until
// nothing has arrived or waited for so long (a capture has ended). Takes naps of up to 200 us when there is
// nothing to do.
void run_relay(Relay& relay, Duration exit_after_idle, const std::atomic<bool>& stop);

}  // namespace tictac
