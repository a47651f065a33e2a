#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "dataplane/base/clock.h"
#include "ps_proxy/native/name_forms.h"

namespace tictac::native {

// Policy `auto` for one job: dense ranks over the keys of the names that are registered now. Equal keys share
// a rank. Ranks change when names come or go; refresh() makes them exact again and says so. Between two
// refreshes a new key has the rank of the place where it will stand. Refreshing is limited to about 2 % of
// the time, because a program may register a name and fetch it, a hundred thousand times. Lcore only.
class AutoRanks {
 public:
  void add(const AutoKey& key) { changed_ |= ++count_of_[key] == 1; }
  void remove(const AutoKey& key);

  // True when ranks changed.
  bool refresh(Time now);
  // When to call refresh() again; kNever when nothing changed since the last time.
  Time refresh_due() const { return changed_ ? not_before_ : kNever; }

  uint32_t rank_of(const AutoKey& key) const;
  // Ranks in use: 0 .. levels() - 1.
  size_t levels() const { return order_.size(); }

 private:
  std::map<AutoKey, uint32_t> count_of_;
  std::vector<AutoKey> order_;  // the keys at the last refresh
  bool changed_ = false;
  Time not_before_{};
};

}  // namespace tictac::native
