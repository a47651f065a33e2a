#include "dataplane/transport/recovery/sent_packets.h"

#include <algorithm>

namespace tictac {
namespace {

constexpr size_t kInitialPackets = 1024;
constexpr size_t kInitialChunks = 4096;
constexpr uint64_t kPacketThreshold = 3;  // RFC 9002, section 6.1.1
constexpr Duration kLeastProbeVariation = 2ms;
constexpr Duration kPeerAckDelay = 1ms;
constexpr int kProbePackets = 2;
constexpr Duration kWindowDecayEvery = 1s;

}  // namespace

SentPackets::SentPackets(SentPacketsObserver& observer, uint64_t first_number)
    : observer_(observer),
      packets_(kInitialPackets),
      chunks_(kInitialChunks),
      least_(first_number),
      oldest_in_flight_(first_number),
      next_(first_number) {}

void SentPackets::on_sent(uint32_t bytes, std::span<const SentChunk> chunks, Time now) {
  if (next_ - least_ >= packets_.size()) grow_packets();
  const size_t to_end = chunks_.size() - chunk_tail_ % chunks_.size();
  if (chunks.size() > to_end) chunk_tail_ += to_end;
  while (chunk_tail_ + chunks.size() - chunk_head_ > chunks_.size()) grow_chunks();
  Packet& packet = at(next_);
  packet = Packet{.sent = now,
                  .lost_at = {},
                  .first_chunk = chunk_tail_,
                  .bytes = bytes,
                  .chunk_count = static_cast<uint8_t>(chunks.size()),
                  .state = chunks.empty() ? State::kSkipped : State::kInFlight};
  std::copy(chunks.begin(), chunks.end(),
            chunks_.begin() + static_cast<ptrdiff_t>(chunk_tail_ % chunks_.size()));
  chunk_tail_ += chunks.size();
  ++next_;
  if (chunks.empty()) return forget(Duration::max(), now);
  if (bytes_in_flight_ == 0) last_progress_ = now;
  bytes_in_flight_ += bytes;
  last_sent_ = now;
}

SentPackets::AckResult SentPackets::on_ack(const wire::AckFrame& ack, Time now) {
  AckResult result;
  if (ack.largest() >= next_) {
    result.valid = false;
    return result;
  }
  const uint64_t largest = ack.largest();
  const uint64_t largest_before = largest_acked_;
  if (largest >= least_ && at(largest).state == State::kInFlight) {
    result.has_rtt_sample = true;
    result.rtt_sample = now - at(largest).sent;
  }
  ack.for_each([&](const wire::NumberRange& range) {
    for (uint64_t number = std::max(range.first, least_); number <= range.last; ++number) {
      ack_one(number, largest_before, result, now);
    }
  });
  if (result.newly_acked_bytes > 0) {
    probes_ = 0;
    last_progress_ = now;
  }
  return result;
}

void SentPackets::ack_one(uint64_t number, uint64_t largest_before, AckResult& result, Time now) {
  Packet& packet = at(number);
  if (packet.state == State::kAcked || packet.state == State::kSkipped) return;
  if (packet.state == State::kLost) {
    ++result.spurious_losses;
    if (!packet.probed) widen(packet, now);
  } else {
    bytes_in_flight_ -= packet.bytes;
  }
  packet.state = State::kAcked;
  result.newly_acked_bytes += packet.bytes;
  reordering_seen_ |= number < largest_before;
  largest_acked_ = std::max(largest_acked_, number);
  observer_.on_chunks_acked(chunks_of(packet));
}

void SentPackets::widen(const Packet& packet, Time now) {
  const Duration needed = reorder_window_ + (now - packet.lost_at);
  reorder_window_ = std::min(std::max(reorder_window_, needed + needed / 4), kMostReorderWindow);
  window_decay_at_ = now + kWindowDecayEvery;
}

SentPackets::LossResult SentPackets::detect_losses(const RttEstimator& rtt, Time now) {
  LossResult result;
  loss_time_ = kNever;
  if (now >= window_decay_at_) {
    reorder_window_ = reorder_window_ * 3 / 4;
    window_decay_at_ = now + kWindowDecayEvery;
  }
  const Duration round_trip = std::max(rtt.smoothed(), rtt.latest());
  const Duration wait = round_trip + std::max(round_trip / 8, reorder_window_) + 1us;
  for (uint64_t number = std::max(oldest_in_flight_, least_); number < largest_acked_; ++number) {
    Packet& packet = at(number);
    if (packet.state != State::kInFlight) continue;
    const bool by_number = !reordering_seen_ && largest_acked_ - number >= kPacketThreshold;
    if (by_number || packet.sent + wait <= now) {
      lose(packet, result, now);
    } else {
      loss_time_ = std::min(loss_time_, packet.sent + wait);
      break;  // later ones were sent later
    }
  }
  while (oldest_in_flight_ < next_ && at(oldest_in_flight_).state != State::kInFlight) ++oldest_in_flight_;
  forget(4 * round_trip + 2 * reorder_window_ + 1ms, now);
  return result;
}

Time SentPackets::probe_time(const RttEstimator& rtt) const {
  if (bytes_in_flight_ == 0) return kNever;
  const Duration once =
      rtt.smoothed() + std::max(4 * rtt.variation(), kLeastProbeVariation) + reorder_window_ + kPeerAckDelay;
  const Duration timeout =
      std::min(once * (int64_t{1} << std::min(probes_, 10U)), std::max(kMostProbeTimeout, once));
  return std::max(last_sent_, last_progress_) + timeout;
}

SentPackets::LossResult SentPackets::on_probe_timeout(Time now) {
  LossResult result;
  ++probes_;
  last_progress_ = now;
  int left = kProbePackets;
  for (uint64_t number = std::max(oldest_in_flight_, least_); number < next_ && left > 0; ++number) {
    Packet& packet = at(number);
    if (packet.state != State::kInFlight) continue;
    lose(packet, result, now);
    packet.probed = true;
    --left;
  }
  return result;
}

void SentPackets::lose(Packet& packet, LossResult& result, Time now) {
  packet.state = State::kLost;
  packet.lost_at = now;
  bytes_in_flight_ -= packet.bytes;
  result.bytes += packet.bytes;
  ++result.packets;
  observer_.on_chunks_lost(chunks_of(packet));
}

// A lost packet is remembered for some round trips, in case it was only late.
void SentPackets::forget(Duration memory, Time now) {
  const bool crowded = next_ - least_ >= kMostPackets / 2;
  while (least_ < next_) {
    const Packet& packet = at(least_);
    if (packet.state == State::kInFlight) break;
    if (packet.state == State::kLost && !crowded && now - packet.lost_at < memory) break;
    ++least_;
  }
  oldest_in_flight_ = std::max(oldest_in_flight_, least_);
  chunk_head_ = least_ < next_ ? at(least_).first_chunk : chunk_tail_;
}

std::span<const SentChunk> SentPackets::chunks_of(const Packet& packet) {
  return {chunks_.data() + packet.first_chunk % chunks_.size(), packet.chunk_count};
}

void SentPackets::grow_packets() {
  std::vector<Packet> larger(packets_.size() * 2);
  for (uint64_t number = least_; number < next_; ++number) larger[number & (larger.size() - 1)] = at(number);
  packets_ = std::move(larger);
}

// Copies the remembered chunks, packet by packet, into a ring of twice the size.
void SentPackets::grow_chunks() {
  std::vector<SentChunk> larger(chunks_.size() * 2);
  uint64_t tail = 0;
  for (uint64_t number = least_; number < next_; ++number) {
    Packet& packet = at(number);
    const std::span<const SentChunk> chunks = chunks_of(packet);
    std::copy(chunks.begin(), chunks.end(), larger.begin() + static_cast<ptrdiff_t>(tail));
    packet.first_chunk = tail;
    tail += chunks.size();
  }
  chunks_ = std::move(larger);
  chunk_head_ = 0;
  chunk_tail_ = tail;
}

}  // namespace tictac
