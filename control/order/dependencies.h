#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "control/graph/model_graph.h"

namespace tictac {

// Ops that need the same recvs, which is all that an order sees of them.
struct DependencyGroup {
  std::vector<uint64_t> recvs;  // bitset over ModelGraph::recvs
  uint32_t count = 0;           // members of it
  Duration time{0};             // sum over the ops

  template <typename Visit>
  void for_each(Visit visit) const {
    for (uint32_t word = 0; word < recvs.size(); ++word) {
      for (uint64_t bits = recvs[word]; bits; bits &= bits - 1) {
        visit(word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
      }
    }
  }
};

// deps(op) of every op that is no recv, transitively, grouped by equal sets; groups in the order of their
// first op in the file, so the same graph gives the same list. Ops that need nothing form no
// group.
std::vector<DependencyGroup> dependency_groups(const ModelGraph& graph);

// deps(op) as bitsets, one row of `words` words for each op.
struct DependencySets {
  size_t words = 0;
  std::vector<uint64_t> bits;
  const uint64_t* row(uint32_t op) const { return bits.data() + op * words; }
};
DependencySets dependency_sets(const ModelGraph& graph);

}  // namespace tictac
