#pragma once

#include <cstdint>
#include <vector>

#include "control/graph/model_graph.h"

namespace tictac {

// TAC (TicTac, arXiv 1803.03288, section 4.3): the order from the graph and the times. Takes the best
// outstanding recv again and again: a before b if min(P_b, M_a) < min(P_a, M_b), then the smaller M+, then
// the earlier in the file. The comparison is no strict weak order, so the scan is part of the definition.
// Returns indices of recvs, first to last.
std::vector<uint32_t> tac_order(const ModelGraph& graph, Rate bandwidth);

}  // namespace tictac
