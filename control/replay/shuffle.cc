#include "control/replay/shuffle.h"

#include <numeric>
#include <random>

namespace tictac::replay {

std::vector<uint32_t> shuffled(size_t n, uint64_t seed) {
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(seed);
  for (size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

}  // namespace tictac::replay
