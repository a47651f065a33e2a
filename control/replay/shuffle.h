#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tictac::replay {

// A permutation of 0..n-1 from a seed: the order in which a worker asks. The same everywhere.
std::vector<uint32_t> shuffled(size_t n, uint64_t seed);

}  // namespace tictac::replay
