#include <algorithm>
#include <vector>

#include "control/order/dependencies.h"
#include "control/order/simulator.h"

namespace tictac {
namespace {

// Sum of the computation of each op and of all that follow it, by op.
std::vector<Duration> time_with_followers(const ModelGraph& graph, const std::vector<uint32_t>& order) {
  const size_t words = (graph.ops.size() + 63) / 64;
  std::vector<uint64_t> followers(graph.ops.size() * words);
  std::vector<Duration> times(graph.ops.size());
  for (auto op = order.rbegin(); op != order.rend(); ++op) {
    uint64_t* own = followers.data() + *op * words;
    own[*op / 64] |= uint64_t{1} << (*op % 64);
    for (size_t word = 0; word < words; ++word) {
      for (uint64_t bits = own[word]; bits; bits &= bits - 1) {
        times[*op] += graph.ops[word * 64 + static_cast<size_t>(std::countr_zero(bits))].time;
      }
    }
    for (const uint32_t input : graph.ops[*op].inputs) {
      uint64_t* before = followers.data() + input * words;
      for (size_t word = 0; word < words; ++word) before[word] |= own[word];
    }
  }
  return times;
}

}  // namespace

Duration lower_bound(const ModelGraph& graph, Rate bandwidth) {
  const Duration transfers = graph.communication_time(bandwidth);
  Duration bound = std::max(transfers, graph.compute_time());
  std::vector<Duration> transfer;
  for (const RecvTensor& recv : graph.recvs) transfer.push_back(transfer_time(recv.bytes, bandwidth));

  std::vector<Duration> after(graph.recvs.size());  // computation that needs the recv
  Duration needing{0};
  Duration least_needed = Duration::max();
  for (const DependencyGroup& group : dependency_groups(graph)) {
    Duration needed{0};
    group.for_each([&](uint32_t recv) {
      after[recv] += group.time;
      needed += transfer[recv];
    });
    needing += group.time;
    least_needed = std::min(least_needed, needed);
  }
  if (!after.empty()) bound = std::max(bound, transfers + *std::min_element(after.begin(), after.end()));
  if (least_needed != Duration::max()) bound = std::max(bound, least_needed + needing);

  const auto order = topological_order(graph);
  if (!order.ok() || graph.ops.size() > kMostOpsForFollowers) return bound;
  const DependencySets sets = dependency_sets(graph);
  const std::vector<Duration> following = time_with_followers(graph, *order);
  for (uint32_t op = 0; op < graph.ops.size(); ++op) {
    Duration needed = following[op];
    for (uint32_t recv = 0; recv < graph.recvs.size(); ++recv) {
      if (sets.row(op)[recv / 64] >> (recv % 64) & 1) needed += transfer[recv];
    }
    bound = std::max(bound, needed);
  }
  return bound;
}

}  // namespace tictac
