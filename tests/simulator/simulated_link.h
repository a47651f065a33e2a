#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "dataplane/base/types.h"
#include "dataplane/base/units.h"
#include "tests/simulator/simulation.h"

namespace tictac::simulator {

// One direction of a path.
struct LinkConfig {
  Rate rate{10'000'000'000};
  Duration delay = 500us;
  uint64_t queue_bytes = 4 << 20;  // drop-tail
  double loss = 0;
  double duplicate = 0;
  double corrupt = 0;            // one bit of the datagram is flipped
  double reorder = 0;            // share of datagrams that are held up
  Duration reorder_least = 1ms;  // ... for a time between these two
  Duration reorder_most = 5ms;
};

class Link {
 public:
  using Deliver = std::function<void(ByteSpan)>;

  Link(Simulation& simulation, const LinkConfig& config, uint64_t seed, Deliver deliver)
      : simulation_(simulation), config_(config), random_(seed), deliver_(std::move(deliver)) {}

  void send(ByteSpan datagram);

  void set_config(const LinkConfig& config) { config_ = config; }
  const LinkConfig& config() const { return config_; }
  // Nothing passes until then.
  void black_hole_until(Time end) { black_hole_end_ = end; }
  // Drops each datagram for which it returns true; for scripted losses.
  void set_filter(std::function<bool(ByteSpan)> drop) { filter_ = std::move(drop); }
  uint64_t sent() const { return sent_; }

 private:
  bool chance(double probability) {
    return probability > 0 && std::uniform_real_distribution<double>(0, 1)(random_) < probability;
  }
  void deliver_at(Time when, std::vector<uint8_t> datagram);

  Simulation& simulation_;
  LinkConfig config_;
  std::mt19937_64 random_;
  Deliver deliver_;
  std::function<bool(ByteSpan)> filter_;
  Time free_at_{};
  Time black_hole_end_{};
  uint64_t sent_ = 0;
};

}  // namespace tictac::simulator
