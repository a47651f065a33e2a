#include "ps_proxy/native/auto_ranks.h"

#include <algorithm>

namespace tictac::native {
namespace {

constexpr Duration kPausePerKey = 3us;  // a refresh takes some 60 ns a key

}  // namespace

void AutoRanks::remove(const AutoKey& key) {
  const auto found = count_of_.find(key);
  if (found == count_of_.end() || --found->second > 0) return;
  count_of_.erase(found);
  changed_ = true;
}

bool AutoRanks::refresh(Time now) {
  if (!changed_ || now < not_before_) return false;
  changed_ = false;
  not_before_ = now + kPausePerKey * static_cast<int64_t>(count_of_.size());
  std::vector<AutoKey> order;
  order.reserve(count_of_.size());
  for (const auto& [key, count] : count_of_) order.push_back(key);
  if (order == order_) return false;
  order_ = std::move(order);
  return true;
}

uint32_t AutoRanks::rank_of(const AutoKey& key) const {
  const auto place = std::lower_bound(order_.begin(), order_.end(), key) - order_.begin();
  const auto last = static_cast<ptrdiff_t>(std::max<size_t>(order_.size(), 1)) - 1;
  return static_cast<uint32_t>(std::min(place, last));
}

}  // namespace tictac::native
