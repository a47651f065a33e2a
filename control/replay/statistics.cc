#include "control/replay/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace tictac::replay {
namespace {

constexpr int kResamples = 1000;

std::vector<Duration> resample(const std::vector<Duration>& values, std::mt19937_64& random) {
  std::vector<Duration> drawn;
  drawn.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) drawn.push_back(values[random() % values.size()]);
  return drawn;
}

}  // namespace

Duration percentile(std::vector<Duration> values, double percent) {
  const double place = std::ceil(percent / 100 * static_cast<double>(values.size()));
  const auto index = static_cast<ptrdiff_t>(std::max(place, 1.0)) - 1;
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<size_t>(index)];
}

Interval gain_interval(const std::vector<Duration>& base, const std::vector<Duration>& other, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> gains;
  gains.reserve(kResamples);
  for (int i = 0; i < kResamples; ++i) {
    const Duration a = median(resample(base, random));
    const Duration b = median(resample(other, random));
    gains.push_back(static_cast<double>(a.count()) / static_cast<double>(std::max<int64_t>(b.count(), 1)) -
                    1);
  }
  std::sort(gains.begin(), gains.end());
  return {.low = gains[kResamples * 25 / 1000], .high = gains[kResamples * 975 / 1000 - 1]};
}

}  // namespace tictac::replay
