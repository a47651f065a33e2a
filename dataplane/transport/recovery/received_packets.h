#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/base/clock.h"
#include "dataplane/transport/wire/frames.h"

namespace tictac {

// Which packet numbers of one session have arrived: a bitmap over the newest kWindow numbers, so that
// reordering over thousands of packets is neither loss nor a duplicate, in constant memory. Also decides when
// an ack is due.
class ReceivedPackets {
 public:
  static constexpr uint64_t kWindow = 65536;
  static constexpr uint32_t kAckEvery = 16;  // ack-eliciting packets
  static constexpr Duration kMaxAckDelay = 500us;

  enum class Verdict : uint8_t { kNew, kDuplicate, kTooOld };

  ReceivedPackets() : bits_(kWindow / 64) {}

  Verdict classify(uint64_t number) const;
  // Only for a number that classify() calls new.
  void add(uint64_t number, bool ack_eliciting, Time now);
  // A duplicate that asks for an ack gets one again: the first may have been lost.
  void on_duplicate(bool ack_eliciting, Time now);
  // The sender no longer waits for anything below `number`.
  void raise_floor(uint64_t number);

  // kNever when no ack is owed.
  Time ack_due_at() const { return ack_due_; }
  bool ack_owed() const { return unacked_ > 0; }
  void on_ack_sent() {
    unacked_ = 0;
    ack_due_ = kNever;
  }
  Duration delay_of_largest(Time now) const { return now - largest_at_; }

  // Gives the received ranges downwards, see AckFrame::write.
  class Ranges {
   public:
    explicit Ranges(const ReceivedPackets& packets) : packets_(packets), next_(packets.largest_) {}
    bool operator()(wire::NumberRange* range);

   private:
    const ReceivedPackets& packets_;
    uint64_t next_;
  };

 private:
  bool has(uint64_t number) const { return bits_[number % kWindow / 64] >> (number % 64) & 1; }
  void set(uint64_t number) { bits_[number % kWindow / 64] |= uint64_t{1} << (number % 64); }
  void clear(uint64_t number) { bits_[number % kWindow / 64] &= ~(uint64_t{1} << (number % 64)); }
  // Largest number in [floor_, from] whose bit equals `value`; floor_ - 1 if there is none.
  uint64_t previous(uint64_t from, bool value) const;
  void owe_ack(Time due);

  std::vector<uint64_t> bits_;
  uint64_t largest_ = 0;  // numbers start at 1
  uint64_t floor_ = 1;    // below it nothing is remembered or reported
  Time largest_at_{};
  uint32_t unacked_ = 0;
  Time ack_due_ = kNever;
};

}  // namespace tictac
