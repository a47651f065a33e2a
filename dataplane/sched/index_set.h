#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tictac {

// Set of small integers with a fast "first member at or after i, round the end", also of an intersection.
class IndexSet {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  // Makes room for members 0..size-1.
  void resize(size_t size) { words_.resize((size + 63) / 64); }
  void insert(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void erase(size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  bool contains(size_t i) const { return i / 64 < words_.size() && (words_[i / 64] >> (i % 64) & 1); }

  // First member of this and `other` at or after `from`, then from 0 on; kNone if there is none. Same sizes.
  size_t next_common(const IndexSet& other, size_t from) const {
    if (words_.empty()) return kNone;
    const size_t start = from / 64 % words_.size();
    const uint64_t upper = ~uint64_t{0} << (from % 64);
    for (size_t i = 0; i <= words_.size(); ++i) {
      const size_t w = (start + i) % words_.size();
      uint64_t word = words_[w] & other.words_[w];
      if (i == 0) word &= upper;
      if (i == words_.size()) word &= ~upper;
      if (word) return w * 64 + static_cast<size_t>(std::countr_zero(word));
    }
    return kNone;
  }
  size_t next(size_t from) const { return next_common(*this, from); }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace tictac
