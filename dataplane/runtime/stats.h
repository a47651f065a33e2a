#pragma once

#include "dataplane/net/udp_stack.h"
#include "dataplane/port/port_counters.h"
#include "dataplane/runtime/lcore_loop.h"
#include "dataplane/runtime/stats_board.h"
#include "dataplane/transport/counters.h"

namespace tictac {

// Everything that the lcore counts, as one consistent copy.
struct RuntimeStats {
  LoopCounters loop;
  PortCounters port;
  NetCounters net;
  TransportCounters transport;
};

// Writer: the lcore, from a timer of the loop. Readers: any thread.
using RuntimeStatsBoard = StatsBoard<RuntimeStats>;

}  // namespace tictac
