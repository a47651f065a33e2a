#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tictac {

// A permutation of 0..n-1 from a seed, the same on every host (std::shuffle may differ between libraries).
std::vector<uint32_t> shuffled(size_t n, uint64_t seed);

// Ranks by index: what stands at place k gets rank k.
std::vector<uint32_t> ranks_of_permutation(const std::vector<uint32_t>& permutation);

}  // namespace tictac
