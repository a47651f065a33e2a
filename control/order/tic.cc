#include "control/order/tic.h"

#include <algorithm>
#include <limits>

#include "control/order/dependencies.h"

namespace tictac {

std::vector<uint32_t> tic_ranks(const ModelGraph& graph) {
  constexpr uint32_t kInfinite = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> m_plus(graph.recvs.size(), kInfinite);
  for (const DependencyGroup& group : dependency_groups(graph)) {
    if (group.count < 2) continue;
    group.for_each([&](uint32_t recv) { m_plus[recv] = std::min(m_plus[recv], group.count); });
  }
  std::vector<uint32_t> sorted = m_plus;
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint32_t> ranks(m_plus.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    ranks[i] =
        static_cast<uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), m_plus[i]) - sorted.begin());
  }
  return ranks;
}

}  // namespace tictac
