#include "control/order/permutation.h"

#include <numeric>
#include <random>
#include <utility>

namespace tictac {

// Fisher-Yates.
std::vector<uint32_t> shuffled(size_t n, uint64_t seed) {
  std::vector<uint32_t> permutation(n);
  std::iota(permutation.begin(), permutation.end(), 0U);
  std::mt19937_64 random(seed);
  for (size_t i = n; i > 1; --i) std::swap(permutation[i - 1], permutation[random() % i]);
  return permutation;
}

std::vector<uint32_t> ranks_of_permutation(const std::vector<uint32_t>& permutation) {
  std::vector<uint32_t> ranks(permutation.size());
  for (uint32_t place = 0; place < permutation.size(); ++place) ranks[permutation[place]] = place;
  return ranks;
}

}  // namespace tictac
