#pragma once

#include "ps_proxy/config/proxy_config.h"

namespace tictac {

// tictac-proxy --relay: joins the two ports of config.relay until a signal comes on `signal_fd`, or until
// both have been silent for exit_after_idle. Prints its counters as one JSON document on stdout at the end.
// Returns the exit code.
int run_relay(const ProxyConfig& config, int signal_fd);

}  // namespace tictac
