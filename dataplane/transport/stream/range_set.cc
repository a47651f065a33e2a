#include "dataplane/transport/stream/range_set.h"

#include <algorithm>

namespace tictac {

size_t RangeSet::first_touching(uint64_t offset) const {
  // Most additions continue the last range.
  if (!ranges_.empty() && ranges_.back().end < offset) return ranges_.size();
  const auto found = std::lower_bound(ranges_.begin(), ranges_.end(), offset,
                                      [](const ByteRange& range, uint64_t at) { return range.end < at; });
  return static_cast<size_t>(found - ranges_.begin());
}

void RangeSet::remove(ByteRange range) {
  if (range.begin >= range.end) return;
  for (size_t i = first_touching(range.begin); i < ranges_.size() && ranges_[i].begin < range.end;) {
    const ByteRange known = ranges_[i];
    if (known.end <= range.begin) {
      ++i;
    } else if (known.begin < range.begin && known.end > range.end) {
      ranges_[i].end = range.begin;
      ranges_.insert(ranges_.begin() + static_cast<ptrdiff_t>(i) + 1, ByteRange{range.end, known.end});
      return;
    } else if (known.begin < range.begin) {
      ranges_[i++].end = range.begin;
    } else if (known.end > range.end) {
      ranges_[i].begin = range.end;
      return;
    } else {
      ranges_.erase(ranges_.begin() + static_cast<ptrdiff_t>(i));
    }
  }
}

bool RangeSet::contains(uint64_t offset) const { return end_of_run(offset) > offset; }

uint64_t RangeSet::end_of_run(uint64_t offset) const {
  const size_t i = first_touching(offset);
  if (i < ranges_.size() && ranges_[i].begin <= offset && ranges_[i].end > offset) return ranges_[i].end;
  const size_t next = i + 1;
  if (next < ranges_.size() && ranges_[next].begin <= offset && ranges_[next].end > offset)
    return ranges_[next].end;
  return offset;
}

}  // namespace tictac
