#include "dataplane/transport/recovery/received_packets.h"

#include <algorithm>
#include <bit>

namespace tictac {

ReceivedPackets::Verdict ReceivedPackets::classify(uint64_t number) const {
  if (number < floor_) return Verdict::kTooOld;
  return number <= largest_ && has(number) ? Verdict::kDuplicate : Verdict::kNew;
}

void ReceivedPackets::add(uint64_t number, bool ack_eliciting, Time now) {
  const bool gap = number != largest_ + 1;
  if (number > largest_) {
    if (number - largest_ >= kWindow) {
      std::fill(bits_.begin(), bits_.end(), 0);
    } else {
      for (uint64_t skipped = largest_ + 1; skipped < number; ++skipped) clear(skipped);
    }
    largest_ = number;
    largest_at_ = now;
    if (number >= kWindow) floor_ = std::max(floor_, number - kWindow + 1);
  }
  set(number);
  if (!ack_eliciting) return;
  // A gap is told at once (RFC 9000, section 13.2.1), once a burst: the owner asks after it took in the
  // burst.
  owe_ack(gap || unacked_ + 1 >= kAckEvery ? now : now + kMaxAckDelay);
}

void ReceivedPackets::on_duplicate(bool ack_eliciting, Time now) {
  if (ack_eliciting) owe_ack(now);
}

void ReceivedPackets::owe_ack(Time due) {
  ++unacked_;
  ack_due_ = std::min(ack_due_, due);
}

void ReceivedPackets::raise_floor(uint64_t number) { floor_ = std::max(floor_, std::min(number, largest_)); }

uint64_t ReceivedPackets::previous(uint64_t from, bool value) const {
  uint64_t number = from;
  while (number >= floor_) {
    const uint64_t word = bits_[number % kWindow / 64] ^ (value ? 0 : ~uint64_t{0});
    const uint64_t upto = word & (~uint64_t{0} >> (63 - number % 64));
    if (upto) {
      const uint64_t found = (number & ~uint64_t{63}) + 63 - static_cast<uint64_t>(std::countl_zero(upto));
      return std::max(found, floor_ - 1);
    }
    if (number < 64) break;
    number = (number & ~uint64_t{63}) - 1;
  }
  return floor_ - 1;
}

bool ReceivedPackets::Ranges::operator()(wire::NumberRange* range) {
  const uint64_t floor = packets_.floor_;
  if (next_ < floor) return false;
  range->last = packets_.previous(next_, true);
  if (range->last < floor) return false;
  const uint64_t hole = packets_.previous(range->last, false);
  range->first = hole + 1;
  next_ = hole == 0 ? 0 : hole - 1;
  return true;
}

}  // namespace tictac
