#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/port/packet_port.h"

namespace tictac {

// A PacketPort with a fixed pool and ring, joined by a cable to another one. The test sets how many frames
// the device takes, the pool's size and the link. Allocates nothing after construction.
class CablePort : public PacketPort {
 public:
  CablePort(size_t frames, uint32_t max_frame, size_t ring)
      : max_frame_(max_frame), ring_(ring), memory_(frames * max_frame), pending_(ring) {
    for (size_t i = 0; i < frames; ++i) free_.push_back(memory_.data() + i * max_frame);
  }
  void connect(CablePort& peer) { peer_ = &peer; }

  size_t receive(std::span<Frame> frames) override {
    size_t n = 0;
    while (n < frames.size() && count_ > 0 && !free_.empty()) {
      const Slot& slot = pending_[head_];
      frames[n] = take(slot.size);
      std::copy_n(slot.data, slot.size, frames[n].data);
      peer_->free_.push_back(slot.data);
      head_ = (head_ + 1) % ring_;
      --count_;
      ++n;
    }
    return n;
  }
  size_t allocate(std::span<Frame> frames) override {
    size_t n = 0;
    while (n < frames.size() && !free_.empty()) frames[n++] = take(0);
    return n;
  }
  size_t send(std::span<Frame> frames) override {
    ++sends;
    size_t n = 0;
    while (n < frames.size() && link && n < takes_at_most && peer_->count_ < ring_) {
      peer_->pending_[(peer_->head_ + peer_->count_++) % ring_] = {frames[n].data, frames[n].size};
      ++n;
    }
    sent += n;
    return n;
  }
  void release(std::span<Frame> frames) override {
    for (const Frame& frame : frames) free_.push_back(frame.data);
  }
  uint32_t max_frame() const override { return max_frame_; }
  bool link_up() const override { return link; }

  size_t free_frames() const { return free_.size(); }
  size_t waiting() const { return count_; }

  size_t takes_at_most = SIZE_MAX;  // in one send()
  bool link = true;
  size_t sends = 0;
  size_t sent = 0;

 private:
  struct Slot {
    uint8_t* data = nullptr;
    uint32_t size = 0;
  };
  Frame take(uint32_t size) {
    uint8_t* data = free_.back();
    free_.pop_back();
    return {.data = data, .size = size, .capacity = max_frame_, .buffer = data};
  }

  uint32_t max_frame_;
  size_t ring_;
  std::vector<uint8_t> memory_;
  std::vector<uint8_t*> free_;
  std::vector<Slot> pending_;  // received, not yet fetched; data is the peer's
  size_t head_ = 0;
  size_t count_ = 0;
  CablePort* peer_ = this;
};

}  // namespace tictac
