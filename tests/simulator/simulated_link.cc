#include "tests/simulator/simulated_link.h"

#include <algorithm>

namespace tictac::simulator {
namespace {

constexpr uint64_t kFrameOverhead = 14 + 20 + 8;

}  // namespace

void Link::send(ByteSpan datagram) {
  ++sent_;
  const Time now = simulation_.now();
  const uint64_t frame = datagram.size() + kFrameOverhead;
  free_at_ = std::max(free_at_, now);
  if (free_at_ - now > transfer_time(config_.queue_bytes, config_.rate)) return;
  free_at_ += transfer_time(frame, config_.rate);
  if (now < black_hole_end_ || (filter_ && filter_(datagram)) || chance(config_.loss)) return;
  Time arrival = free_at_ + config_.delay;
  if (chance(config_.reorder)) {
    arrival += Duration(std::uniform_int_distribution<int64_t>(config_.reorder_least.count(),
                                                               config_.reorder_most.count())(random_));
  }
  std::vector<uint8_t> copy(datagram.begin(), datagram.end());
  if (chance(config_.duplicate)) deliver_at(arrival + 10us, copy);
  if (chance(config_.corrupt)) copy[random_() % copy.size()] ^= static_cast<uint8_t>(1U << (random_() % 8));
  deliver_at(arrival, std::move(copy));
}

void Link::deliver_at(Time when, std::vector<uint8_t> datagram) {
  simulation_.at(when, [this, datagram = std::move(datagram)] { deliver_(datagram); });
}

}  // namespace tictac::simulator
