#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "control/graph/model_graph.h"
#include "control/order/order.h"

namespace tictac::cli {

// --graph and --trace, as every command that reads a model has them. Lives as long as the command line.
struct GraphOptions {
  std::string graph;
  std::vector<std::string> traces;

  void add_to(CLI::App& command, bool required = true);
  absl::StatusOr<ModelGraph> load() const;
};

// An order from a policy (--policy, --bandwidth, --seed) or from a file (--order): one of the two must be
// there.
struct OrderSourceOptions {
  std::string policy;
  std::string order_file;
  Rate bandwidth{0};
  uint64_t seed = 1;

  // `bandwidth_required`: the command itself needs a bandwidth, not only policy tac.
  void add_to(CLI::App& command, bool bandwidth_required);
  absl::StatusOr<Order> make(const ModelGraph& graph) const;
};

// Adds an option that takes a rate like 10Gbit/s; a wrong one is wrong use.
CLI::Option* add_rate(CLI::App& command, const std::string& name, Rate& rate, const std::string& help);

// Lets --policy take only names that exist.
CLI::Option* add_policy(CLI::App& command, std::string& policy);

}  // namespace tictac::cli
