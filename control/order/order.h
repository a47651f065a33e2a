#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "control/graph/model_graph.h"
#include "dataplane/base/types.h"

namespace tictac {

// A parameter and its place; equal ranks have no order among them.
struct RankedRecv {
  std::string name;  // canonical
  uint64_t bytes = 0;
  Rank rank;
};

// What a policy computes from a graph: every recv once, in rank order (equal ranks in file order).
struct Order {
  std::vector<RankedRecv> recvs;
  std::vector<std::string> warnings;
};

enum class Policy : uint8_t { kTic, kTac, kAuto, kRandom, kFifo, kReverse };

// "tic", "tac", ... The error names the policies that exist.
absl::StatusOr<Policy> parse_policy(absl::string_view name);
absl::string_view name_of(Policy policy);

struct OrderOptions {
  Policy policy = Policy::kTic;
  Rate bandwidth{0};  // kTac needs it; the others ignore it
  uint64_t seed = 1;  // of kRandom
};

// Same graph and options, same answer.
absl::StatusOr<Order> compute_order(const ModelGraph& graph, const OrderOptions& options);

// An order from one rank for each recv of the graph, by index.
Order make_order(const ModelGraph& graph, const std::vector<uint32_t>& ranks);
// The ranks of the graph's recvs by index, from an order with their names. A recv that the order lacks comes
// after all others; a name that the graph lacks is an error; both are told (the first in `warnings`, if not
// null).
absl::StatusOr<std::vector<uint32_t>> ranks_of(const ModelGraph& graph, const Order& order,
                                               std::vector<std::string>* warnings);

}  // namespace tictac
