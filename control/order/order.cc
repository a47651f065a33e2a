#include "control/order/order.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "control/order/permutation.h"
#include "control/order/tac.h"
#include "control/order/tic.h"

namespace tictac {
namespace {

constexpr std::array<std::pair<absl::string_view, Policy>, 6> kPolicies = {{{"tic", Policy::kTic},
                                                                            {"tac", Policy::kTac},
                                                                            {"auto", Policy::kAuto},
                                                                            {"random", Policy::kRandom},
                                                                            {"fifo", Policy::kFifo},
                                                                            {"reverse", Policy::kReverse}}};

std::vector<uint32_t> one_to_n(size_t n) {
  std::vector<uint32_t> ranks(n);
  std::iota(ranks.begin(), ranks.end(), 0U);
  return ranks;
}

std::vector<uint32_t> reverse_ranks(size_t n) {
  std::vector<uint32_t> ranks = one_to_n(n);
  std::reverse(ranks.begin(), ranks.end());
  return ranks;
}

// By the number in the rendezvous key, which follows the order in which the model was built.
std::vector<uint32_t> auto_ranks(const ModelGraph& graph, std::vector<std::string>& warnings) {
  std::vector<uint32_t> permutation = one_to_n(graph.recvs.size());
  const bool numbered = std::all_of(graph.recvs.begin(), graph.recvs.end(),
                                    [](const RecvTensor& recv) { return !recv.edges.empty(); });
  if (!numbered) {
    warnings.emplace_back("names without edge_NNN_: policy auto takes the file order");
  } else {
    std::stable_sort(permutation.begin(), permutation.end(), [&](uint32_t a, uint32_t b) {
      return graph.recvs[a].data_edge < graph.recvs[b].data_edge;
    });
  }
  return ranks_of_permutation(permutation);
}

}  // namespace

absl::StatusOr<Policy> parse_policy(absl::string_view name) {
  for (const auto& [known, policy] : kPolicies) {
    if (known == name) return policy;
  }
  const auto names =
      absl::StrJoin(kPolicies, ", ", [](std::string* out, const auto& p) { absl::StrAppend(out, p.first); });
  return absl::InvalidArgumentError(absl::StrCat("unknown policy \"", name, "\"; there are: ", names));
}

absl::string_view name_of(Policy policy) {
  for (const auto& [name, known] : kPolicies) {
    if (known == policy) return name;
  }
  return "unknown";
}

absl::StatusOr<Order> compute_order(const ModelGraph& graph, const OrderOptions& options) {
  std::vector<std::string> warnings;
  std::vector<uint32_t> ranks;
  switch (options.policy) {
    case Policy::kTic:
      ranks = tic_ranks(graph);
      break;
    case Policy::kTac:
      if (options.bandwidth.value() == 0)
        return absl::InvalidArgumentError("policy tac needs --bandwidth, like 10Gbit/s");
      ranks = ranks_of_permutation(tac_order(graph, options.bandwidth));
      break;
    case Policy::kAuto:
      ranks = auto_ranks(graph, warnings);
      break;
    case Policy::kRandom:
      ranks = ranks_of_permutation(shuffled(graph.recvs.size(), options.seed));
      break;
    case Policy::kFifo:
      ranks.assign(graph.recvs.size(), 0);
      break;
    case Policy::kReverse:
      ranks = reverse_ranks(graph.recvs.size());
      break;
  }
  Order order = make_order(graph, ranks);
  order.warnings = std::move(warnings);
  return order;
}

Order make_order(const ModelGraph& graph, const std::vector<uint32_t>& ranks) {
  std::vector<uint32_t> places = one_to_n(ranks.size());
  std::stable_sort(places.begin(), places.end(), [&](uint32_t a, uint32_t b) { return ranks[a] < ranks[b]; });
  Order order;
  order.recvs.reserve(places.size());
  for (const uint32_t i : places)
    order.recvs.push_back({graph.recvs[i].name, graph.recvs[i].bytes, Rank(ranks[i])});
  return order;
}

absl::StatusOr<std::vector<uint32_t>> ranks_of(const ModelGraph& graph, const Order& order,
                                               std::vector<std::string>* warnings) {
  std::unordered_map<std::string, uint32_t> index_of;
  for (uint32_t i = 0; i < graph.recvs.size(); ++i) index_of.emplace(graph.recvs[i].name, i);
  std::vector<std::optional<uint32_t>> found(graph.recvs.size());
  uint32_t last = 0;
  for (const RankedRecv& recv : order.recvs) {
    const auto place = index_of.find(recv.name);
    if (place == index_of.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the order names \"", recv.name, "\", which the graph does not receive"));
    }
    found[place->second] = recv.rank.value();
    last = std::max(last, recv.rank.value());
  }
  std::vector<uint32_t> ranks(found.size());
  size_t missing = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    ranks[i] = found[i].value_or(last + 1);
    missing += !found[i];
  }
  if (missing > 0 && warnings)
    warnings->push_back(absl::StrCat(missing, " recvs are not in the order and come last"));
  return ranks;
}

}  // namespace tictac
