#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "dataplane/base/clock.h"

namespace tictac::replay {

// Nearest-rank percentile (0..100) of at least one value.
Duration percentile(std::vector<Duration> values, double percent);
inline Duration median(std::vector<Duration> values) { return percentile(std::move(values), 50); }

struct Interval {
  double low = 0;
  double high = 0;
};

// 95 % interval of median(base) / median(other) - 1, by bootstrap (Efron, 1979) with a fixed seed.
Interval gain_interval(const std::vector<Duration>& base, const std::vector<Duration>& other,
                       uint64_t seed = 1);

}  // namespace tictac::replay
