#pragma once

#include <cstdint>
#include <vector>

#include "control/graph/model_graph.h"

namespace tictac {

// TIC (TicTac, arXiv 1803.03288, section 4.2): the order from the graph alone. Every recv costs 1 and ops
// cost nothing; the rank of a recv, by its index, is the number of recvs with a smaller M+, so ties share a
// rank.
std::vector<uint32_t> tic_ranks(const ModelGraph& graph);

}  // namespace tictac
