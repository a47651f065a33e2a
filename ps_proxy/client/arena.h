#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace tictac::native {

// Gives out pieces of [0, size): best fit, 64-byte steps, neighbours joined again when freed. Its bookkeeping
// lies outside of the arena, where nobody else can spoil it. Of pieces that fit equally well the lowest is
// taken, so that a program that allocates and frees in turn uses the same warm memory again.
class Arena {
 public:
  explicit Arena(uint64_t size);

  // Offset of a piece of at least `size` bytes (0 counts as 1); none when no free piece is that large.
  std::optional<uint64_t> allocate(uint64_t size);
  // False when no piece begins at `offset`.
  bool release(uint64_t offset);

  uint64_t size() const { return size_; }
  uint64_t in_use() const { return in_use_; }
  uint64_t largest_free() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  void add_free(uint64_t offset, uint64_t size);
  void remove_free(uint64_t offset, uint64_t size);

  uint64_t size_;
  uint64_t in_use_ = 0;
  std::map<uint64_t, uint64_t> free_;                 // offset -> size
  std::set<std::pair<uint64_t, uint64_t>> by_size_;   // (size, offset) of the same
  std::unordered_map<uint64_t, uint64_t> allocated_;  // offset -> size
};

}  // namespace tictac::native
