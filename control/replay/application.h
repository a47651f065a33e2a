#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "control/replay/channel.h"
#include "control/replay/plan.h"
#include "dataplane/base/clock.h"
#include "ps_proxy/client/tictac.hpp"

namespace tictac::replay {

// CLOCK_MONOTONIC, the clock of the events' times.
Time monotonic_now();

// One tensor of one job in an application's arena.
struct Tensor {
  std::string wire_name;
  uint64_t size = 0;
  tictac_name_id name = 0;
  native::Buffer buffer;
};

// An application's side of one job: its client, its tensors. `incoming` ones are fetched, `outgoing` ones
// served.
struct JobClient {
  native::Client client;
  tictac_peer_id peer = 0;
  std::vector<Tensor> incoming;
  std::vector<Tensor> outgoing;
  std::vector<uint32_t> outgoing_of_name;  // by name id; UINT32_MAX when none

  // Connects, waits for the peer, registers and serves the names, takes the memory. Errors say what to do.
  static absl::StatusOr<JobClient> connect(const std::string& socket, const std::string& application,
                                           const std::string& job, const std::string& peer,
                                           const std::vector<std::pair<std::string, uint64_t>>& incoming,
                                           const std::vector<std::pair<std::string, uint64_t>>& outgoing);
};

// The parameters (name, bytes) and the gradients of a graph.
std::vector<std::pair<std::string, uint64_t>> parameters_of(const ModelGraph& graph);
std::vector<std::pair<std::string, uint64_t>> gradients_of(const ModelGraph& graph);

// Its sidecar's counters.
absl::StatusOr<Counters> read_counters(native::Client& client);

// Answers commands until the channel ends. `handle` fills the reply; its error becomes the reply's.
void serve_commands(
    Channel& channel,
    const std::function<absl::Status(const Command&, Reply*, std::vector<Completion>*)>& handle);

// One line for a failed call of the client library.
absl::Status client_error(const std::string& doing);

}  // namespace tictac::replay
