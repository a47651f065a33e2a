#include "dataplane/transport/recovery/rate_controller.h"

#include <algorithm>
#include <utility>

namespace tictac {
namespace {

constexpr Duration kLeastRound = 100us;
constexpr Duration kLeastQueueShown = 200us;
constexpr uint32_t kSamplesOfSlowStart = 8;
constexpr double kGrowingDelivery = 1.25;
constexpr double kGrowth = 1.10;  // of the window in a round below the target, after slow start
constexpr double kMostDecrease = 0.5;
constexpr double kDecreaseGain = 0.8;   // beta of Swift
constexpr double kDeliveryFade = 0.95;  // of the remembered maximum, each round
constexpr double kDeliveryHeadroom = 1.25;
constexpr double kPacingGain = 1.5;
constexpr double kSlowStartPacingGain = 3;
constexpr int kDrainRounds = 2;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

void RateController::on_ack(uint64_t newly_acked_bytes, const RttEstimator& rtt, Time now) {
  if (!in_round_) {
    in_round_ = true;
    round_start_ = drained_at_ = now;
  }
  acked_in_round_ += newly_acked_bytes;
  least_in_round_ = std::min(least_in_round_, rtt.latest());
  watch_for_queue(rtt);
  if (now - round_start_ >= std::max(rtt.smoothed(), kLeastRound)) end_round(rtt, now);
}

// Slow start ends when several samples in a row show a queue.
void RateController::watch_for_queue(const RttEstimator& rtt) {
  const Duration queue_shown = std::max(rtt.min() / 4, kLeastQueueShown);
  samples_with_queue_ = rtt.latest() > rtt.min() + queue_shown ? samples_with_queue_ + 1 : 0;
  if (samples_with_queue_ >= kSamplesOfSlowStart) slow_start_ = false;
}

void RateController::end_round(const RttEstimator& rtt, Time now) {
  const double delivered = static_cast<double>(acked_in_round_) / seconds(now - round_start_);
  const bool growing = delivered > kGrowingDelivery * delivery_rate_;
  delivery_rate_ = std::max(delivered, delivery_rate_ * kDeliveryFade);
  const Duration queueing = least_in_round_ - rtt.min();
  if (drain_rounds_ > 0) {
    if (--drain_rounds_ == 0) window_ = window_before_drain_;
  } else {
    adjust_window(queueing, rtt, growing);
    const bool queue_stands = queueing > kTargetQueueing / 4 && !slow_start_;
    if (queue_stands && now - drained_at_ >= kDrainEvery) drain(rtt, now);
  }
  limited_ = false;
  acked_in_round_ = lost_in_round_ = 0;
  least_of_last_round_ = std::exchange(least_in_round_, Duration::max());
  round_start_ = now;
}

void RateController::adjust_window(Duration queueing, const RttEstimator& rtt, bool growing) {
  const auto sent = static_cast<double>(acked_in_round_ + lost_in_round_);
  const bool much_lost =
      static_cast<double>(lost_in_round_) > kLossThreshold * sent && lost_in_round_ > kLeastWindow;
  auto window = static_cast<double>(window_);
  if (queueing > kTargetQueueing) {
    slow_start_ = false;
    const double excess = seconds(queueing - kTargetQueueing) / seconds(least_in_round_);
    window *= std::max(1 - kDecreaseGain * excess, kMostDecrease);
  } else if (limited_) {
    if (much_lost && !growing) slow_start_ = false;
    window *= slow_start_ ? 2 : kGrowth;
  }
  if (much_lost && !slow_start_) window = std::min(window, delivery_bound(rtt));
  window_ = static_cast<uint64_t>(
      std::clamp(window, static_cast<double>(kLeastWindow), static_cast<double>(kMostWindow)));
}

void RateController::drain(const RttEstimator& rtt, Time now) {
  window_before_drain_ = window_;
  const auto half = static_cast<uint64_t>(delivery_rate_ * seconds(rtt.min()) / 2);
  window_ = std::min(window_, std::max(half, kLeastWindow));
  drain_rounds_ = kDrainRounds;
  drained_at_ = now;
}

double RateController::delivery_bound(const RttEstimator& rtt) const {
  const double bound = kDeliveryHeadroom * delivery_rate_ * seconds(rtt.min());
  return std::max(bound, 4.0 * kLeastWindow);
}

Rate RateController::pacing_rate(const RttEstimator& rtt) const {
  if (least_of_last_round_ == Duration::zero()) return Rate(0);
  const double round_trip = seconds(std::max({least_of_last_round_, rtt.min(), Duration(20us)}));
  const double gain = slow_start_ ? kSlowStartPacingGain : kPacingGain;
  return Rate(static_cast<uint64_t>(gain * 8 * static_cast<double>(window_) / round_trip));
}

}  // namespace tictac
