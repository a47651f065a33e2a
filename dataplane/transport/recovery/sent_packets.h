#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/base/clock.h"
#include "dataplane/transport/recovery/rtt_estimator.h"
#include "dataplane/transport/wire/frames.h"

namespace tictac {

// Part of a sent packet that must arrive: which frame, of which stream (slot of the stream table), which
// bytes.
struct SentChunk {
  wire::FrameType type = wire::FrameType::kPing;
  bool end = false;
  uint32_t length = 0;
  uint32_t slot = 0;
  uint32_t generation = 0;
  uint64_t offset = 0;
};

// What becomes of sent packets; called from SentPackets with the packet's chunks.
class SentPacketsObserver {
 public:
  virtual ~SentPacketsObserver() = default;
  virtual void on_chunks_acked(std::span<const SentChunk> chunks) = 0;
  virtual void on_chunks_lost(std::span<const SentChunk> chunks) = 0;
};

// Packets in flight of one session and the detection of their loss.
//
// A packet is lost when one sent later was acknowledged and it has waited a reordering window longer than a
// round trip (RACK, RFC 8985), or, until reordering was seen, when three later ones were acknowledged (RFC
// 9002, section 6.1.1). The window adapts: an acknowledgement of a packet that was called lost widens it to
// what that packet needed. Lost packets stay remembered for a while so that this can be seen; least_awaited()
// tells the receiver when not. When nothing comes back, a probe time-out (RFC 9002, section 6.2) calls the
// oldest packets lost.
//
// Rings of fixed growth: memory follows the number of packets remembered, at most kMostPackets.
class SentPackets {
 public:
  static constexpr uint64_t kMostPackets = 65536;
  static constexpr size_t kMostChunks = 160;  // in a packet: as many small frames as fit into 1,472 bytes
  static constexpr Duration kMostReorderWindow = 50ms;
  static constexpr Duration kMostProbeTimeout = 300ms;

  explicit SentPackets(SentPacketsObserver& observer, uint64_t first_number = 1);

  // What an acknowledgement told.
  struct AckResult {
    bool valid = true;  // false: it names packets never sent
    uint64_t newly_acked_bytes = 0;
    bool has_rtt_sample = false;
    Duration rtt_sample{0};
    uint32_t spurious_losses = 0;
  };
  struct LossResult {
    uint64_t bytes = 0;
    uint64_t packets = 0;
  };

  uint64_t next_number() const { return next_; }
  bool full() const { return next_ - least_ >= kMostPackets; }
  uint64_t least_awaited() const { return least_; }
  uint64_t bytes_in_flight() const { return bytes_in_flight_; }

  // The packet next_number() left. Packets without chunks do not count as in flight and are not watched.
  void on_sent(uint32_t bytes, std::span<const SentChunk> chunks, Time now);
  AckResult on_ack(const wire::AckFrame& ack, Time now);
  // After an ack, and at loss_time(): declares losses by order and time.
  LossResult detect_losses(const RttEstimator& rtt, Time now);
  // When detect_losses() should run though no ack came; kNever if nothing waits for that.
  Time loss_time() const { return loss_time_; }

  // Probe time-out: when it is due, and what it does (the oldest two packets in flight are called lost).
  Time probe_time(const RttEstimator& rtt) const;
  LossResult on_probe_timeout(Time now);

  Duration reorder_window() const { return reorder_window_; }

 private:
  enum class State : uint8_t { kSkipped, kInFlight, kAcked, kLost };
  struct Packet {
    Time sent;
    Time lost_at;
    uint64_t first_chunk = 0;
    uint32_t bytes = 0;
    uint8_t chunk_count = 0;
    State state = State::kSkipped;
    bool probed = false;  // called lost by a probe time-out: its late ack says nothing on reordering
  };

  Packet& at(uint64_t number) { return packets_[number & (packets_.size() - 1)]; }
  const Packet& at(uint64_t number) const { return packets_[number & (packets_.size() - 1)]; }
  void grow_packets();
  void grow_chunks();
  std::span<const SentChunk> chunks_of(const Packet& packet);
  void ack_one(uint64_t number, uint64_t largest_before, AckResult& result, Time now);
  void lose(Packet& packet, LossResult& result, Time now);
  void forget(Duration memory, Time now);
  void widen(const Packet& packet, Time now);

  SentPacketsObserver& observer_;
  std::vector<Packet> packets_;    // ring by number
  std::vector<SentChunk> chunks_;  // ring in the order of sending; a packet's chunks do not wrap
  uint64_t chunk_head_ = 0;        // oldest still remembered
  uint64_t chunk_tail_ = 0;
  uint64_t least_;  // oldest remembered
  uint64_t oldest_in_flight_;
  uint64_t next_;
  uint64_t largest_acked_ = 0;
  uint64_t bytes_in_flight_ = 0;
  Time last_sent_{};
  Time last_progress_{};
  Time loss_time_ = kNever;
  uint32_t probes_ = 0;  // since the last progress
  bool reordering_seen_ = false;
  Duration reorder_window_{0};
  Time window_decay_at_{};
};

}  // namespace tictac
