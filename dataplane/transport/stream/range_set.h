#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tictac {

// Bytes [begin, end).
struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t size() const { return end - begin; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// Set of byte offsets as sorted ranges that neither overlap nor touch. Memory is kept by clear(), so that a
// pooled set stops allocating.
class RangeSet {
 public:
  bool empty() const { return ranges_.empty(); }
  size_t count() const { return ranges_.size(); }
  const ByteRange& front() const { return ranges_.front(); }
  const std::vector<ByteRange>& ranges() const { return ranges_; }
  void clear() { ranges_.clear(); }

  // Adds a range; calls fresh(ByteRange) for each part that was not in the set.
  template <typename Fresh>
  void add(ByteRange range, Fresh fresh);
  void add(ByteRange range) {
    add(range, [](ByteRange) {});
  }
  void remove(ByteRange range);
  bool contains(uint64_t offset) const;
  // End of the range that holds `offset`, or `offset` itself when none does.
  uint64_t end_of_run(uint64_t offset) const;
  // Calls visit(ByteRange) for each part of `range` that is not in the set, upwards. `visit` must not change
  // this set.
  template <typename Visit>
  void for_each_missing(ByteRange range, Visit visit) const;

 private:
  // First range that ends at or after `offset`.
  size_t first_touching(uint64_t offset) const;

  std::vector<ByteRange> ranges_;
};

template <typename Visit>
void RangeSet::for_each_missing(ByteRange range, Visit visit) const {
  for (size_t i = first_touching(range.begin); i < ranges_.size() && range.begin < range.end; ++i) {
    if (ranges_[i].begin >= range.end) break;
    if (range.begin < ranges_[i].begin) visit(ByteRange{range.begin, ranges_[i].begin});
    if (range.begin < ranges_[i].end) range.begin = ranges_[i].end;
  }
  if (range.begin < range.end) visit(range);
}

template <typename Fresh>
void RangeSet::add(ByteRange range, Fresh fresh) {
  if (range.begin >= range.end) return;
  const size_t first = first_touching(range.begin);
  size_t last = first;
  uint64_t missing_from = range.begin;
  ByteRange merged = range;
  for (; last < ranges_.size() && ranges_[last].begin <= range.end; ++last) {
    const ByteRange& known = ranges_[last];
    if (missing_from < known.begin) fresh(ByteRange{missing_from, known.begin});
    missing_from = known.end > missing_from ? known.end : missing_from;
    merged.begin = known.begin < merged.begin ? known.begin : merged.begin;
    merged.end = known.end > merged.end ? known.end : merged.end;
  }
  if (missing_from < range.end) fresh(ByteRange{missing_from, range.end});
  if (first == last) {
    ranges_.insert(ranges_.begin() + static_cast<ptrdiff_t>(first), merged);
    return;
  }
  ranges_[first] = merged;
  ranges_.erase(ranges_.begin() + static_cast<ptrdiff_t>(first) + 1,
                ranges_.begin() + static_cast<ptrdiff_t>(last));
}

}  // namespace tictac
