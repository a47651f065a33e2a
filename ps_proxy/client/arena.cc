#include "ps_proxy/client/arena.h"

#include <algorithm>

#include "ps_proxy/client/tictac.h"

namespace tictac::native {

Arena::Arena(uint64_t size) : size_(size - size % TICTAC_ALIGNMENT) {
  if (size_ > 0) add_free(0, size_);
}

void Arena::add_free(uint64_t offset, uint64_t size) {
  free_.emplace(offset, size);
  by_size_.emplace(size, offset);
}

void Arena::remove_free(uint64_t offset, uint64_t size) {
  free_.erase(offset);
  by_size_.erase({size, offset});
}

std::optional<uint64_t> Arena::allocate(uint64_t size) {
  if (size > size_) return std::nullopt;
  const uint64_t steps = (std::max<uint64_t>(size, 1) + TICTAC_ALIGNMENT - 1) / TICTAC_ALIGNMENT;
  const uint64_t wanted = steps * TICTAC_ALIGNMENT;
  const auto fit = by_size_.lower_bound({wanted, 0});
  if (fit == by_size_.end()) return std::nullopt;
  const auto [free_size, offset] = *fit;
  remove_free(offset, free_size);
  if (free_size > wanted) add_free(offset + wanted, free_size - wanted);
  allocated_.emplace(offset, wanted);
  in_use_ += wanted;
  return offset;
}

bool Arena::release(uint64_t offset) {
  const auto found = allocated_.find(offset);
  if (found == allocated_.end()) return false;
  uint64_t begin = offset;
  uint64_t size = found->second;
  in_use_ -= size;
  allocated_.erase(found);
  auto after = free_.lower_bound(begin);
  if (after != free_.end() && after->first == begin + size) {
    const auto [next_offset, next_size] = *after;
    remove_free(next_offset, next_size);
    size += next_size;
    after = free_.lower_bound(begin);
  }
  if (after != free_.begin()) {
    const auto [before_offset, before_size] = *std::prev(after);
    if (before_offset + before_size == begin) {
      remove_free(before_offset, before_size);
      begin = before_offset;
      size += before_size;
    }
  }
  add_free(begin, size);
  return true;
}

}  // namespace tictac::native
