#include "control/order/dependencies.h"

#include <bit>
#include <map>

namespace tictac {

DependencySets dependency_sets(const ModelGraph& graph) {
  DependencySets sets;
  sets.words = (graph.recvs.size() + 63) / 64;
  sets.bits.resize(graph.ops.size() * sets.words);
  const auto order = topological_order(graph);
  if (!order.ok()) return sets;  // load_graph refuses such graphs
  for (const uint32_t op : *order) {
    uint64_t* row = sets.bits.data() + op * sets.words;
    const uint32_t recv = graph.ops[op].recv;
    if (recv != kNoRecv) row[recv / 64] |= uint64_t{1} << (recv % 64);
    for (const uint32_t input : graph.ops[op].inputs) {
      const uint64_t* needed = sets.row(input);
      for (size_t word = 0; word < sets.words; ++word) row[word] |= needed[word];
    }
  }
  return sets;
}

std::vector<DependencyGroup> dependency_groups(const ModelGraph& graph) {
  const DependencySets sets = dependency_sets(graph);
  std::vector<DependencyGroup> groups;
  std::map<std::vector<uint64_t>, size_t> group_of;
  for (uint32_t op = 0; op < graph.ops.size(); ++op) {
    if (graph.ops[op].recv != kNoRecv) continue;
    std::vector<uint64_t> recvs(sets.row(op), sets.row(op) + sets.words);
    uint32_t count = 0;
    for (const uint64_t word : recvs) count += static_cast<uint32_t>(std::popcount(word));
    if (count == 0) continue;
    const auto [place, is_new] = group_of.emplace(recvs, groups.size());
    if (is_new) groups.push_back({.recvs = std::move(recvs), .count = count, .time = Duration(0)});
    groups[place->second].time += graph.ops[op].time;
  }
  return groups;
}

}  // namespace tictac
