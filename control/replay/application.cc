#include "control/replay/application.h"

#include <time.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace tictac::replay {
namespace {

constexpr Duration kPeerLimit = 10s;
constexpr Duration kCommandPatience = 3600s;  // the conductor decides; a dead one shows at once

absl::Status take(native::Client& client, const std::vector<std::pair<std::string, uint64_t>>& wanted,
                  std::vector<Tensor>* tensors) {
  for (const auto& [name, size] : wanted) {
    Tensor tensor{.wire_name = name,
                  .size = size,
                  .name = 0,
                  .buffer = native::Buffer(client, std::max<uint64_t>(size, 1))};
    if (!tensor.buffer) return client_error("memory for the tensors");
    if (client.name(name, &tensor.name) != TICTAC_OK) return client_error("registering a name");
    tensors->push_back(std::move(tensor));
  }
  return absl::OkStatus();
}

uint64_t arena_bytes(const std::vector<std::pair<std::string, uint64_t>>& tensors) {
  uint64_t sum = 0;
  for (const auto& [name, size] : tensors)
    sum += (size + 2 * TICTAC_ALIGNMENT) / TICTAC_ALIGNMENT * TICTAC_ALIGNMENT;
  return sum;
}

}  // namespace

Time monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Time(Duration(int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec));
}

absl::Status client_error(const std::string& doing) {
  return absl::UnavailableError(absl::StrCat(doing, ": ", tictac_error()));
}

absl::StatusOr<JobClient> JobClient::connect(const Role& role, const std::string& job) {
  JobClient made;
  tictac_options options{};
  options.socket = role.socket.c_str();
  options.application = role.application.c_str();
  options.job = job.c_str();
  options.arena_bytes = arena_bytes(role.incoming) + arena_bytes(role.outgoing) + (1 << 20);
  made.client = native::Client(options);
  if (!made.client) return client_error("connecting to the sidecar");
  if (made.client.peer(role.peer, &made.peer) != TICTAC_OK) return client_error("finding the peer");
  if (made.client.wait_peer(made.peer, kPeerLimit.count()) != TICTAC_OK)
    return client_error("waiting for the other sidecar");
  absl::Status taken = take(made.client, role.incoming, &made.incoming);
  if (taken.ok()) taken = take(made.client, role.outgoing, &made.outgoing);
  if (!taken.ok()) return taken;
  for (uint32_t i = 0; i < made.outgoing.size(); ++i) {
    const tictac_name_id name = made.outgoing[i].name;
    if (made.client.serve(name) != TICTAC_OK) return client_error("serving a name");
    if (made.outgoing_of_name.size() <= name)
      made.outgoing_of_name.resize(name + 1, std::numeric_limits<uint32_t>::max());
    made.outgoing_of_name[name] = i;
  }
  return made;
}

absl::StatusOr<std::vector<JobClient>> connect_all(const JobClient::Role& role,
                                                   const std::vector<std::string>& jobs, Counters* counters) {
  std::vector<JobClient> clients;
  for (const std::string& job : jobs) {
    auto client = JobClient::connect(role, job);
    if (!client.ok()) return client.status();
    clients.push_back(*std::move(client));
  }
  const absl::Status counted = read_counters(clients.front().client, counters);
  if (!counted.ok()) return counted;
  return clients;
}

std::vector<std::pair<std::string, uint64_t>> parameters_of(const ModelGraph& graph) {
  std::vector<std::pair<std::string, uint64_t>> list;
  for (const RecvTensor& recv : graph.recvs) list.emplace_back(recv.wire_name, recv.bytes);
  return list;
}

std::vector<std::pair<std::string, uint64_t>> gradients_of(const ModelGraph& graph) {
  std::vector<std::pair<std::string, uint64_t>> list;
  for (const SendTensor& send : graph.sends) list.emplace_back(send.wire_name, send.bytes);
  return list;
}

absl::Status read_counters(native::Client& client, Counters* counters) {
  const nlohmann::json stats = nlohmann::json::parse(client.stats(), nullptr, false);
  if (!stats.is_object()) return client_error("the sidecar's statistics");
  *counters = {.inversions = stats.value("inversions", uint64_t{0}),
               .late_packets = stats.value("late_packets", uint64_t{0}),
               .packets = stats.value("packets", uint64_t{0}),
               .retransmits = stats.value("retransmits", uint64_t{0})};
  return absl::OkStatus();
}

void serve_commands(
    Channel& channel,
    const std::function<absl::Status(const Command&, Reply*, std::vector<Completion>*)>& handle) {
  while (true) {
    const auto command = channel.receive_command(kCommandPatience);
    if (!command.ok()) return;
    Reply reply;
    std::vector<Completion> completions;
    const absl::Status status = handle(*command, &reply, &completions);
    if (!status.ok()) reply.fail(absl::StrCat(status.message()));
    if (!channel.send(reply, completions).ok()) return;
  }
}

}  // namespace tictac::replay
