#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "dataplane/port/packet_port.h"

namespace tictac {

// A packet port in memory: the test puts frames into `arriving` and finds what was sent in `sent`. Counts its
// buffers, so that a test can see that none was lost.
class FakePort : public PacketPort {
 public:
  explicit FakePort(uint32_t max_frame = 1514) : max_frame_(max_frame) {}

  size_t receive(std::span<Frame> frames) override {
    const size_t count = std::min(frames.size(), arriving.size());
    for (size_t i = 0; i < count; ++i) {
      frames[i] = make(std::max<size_t>(arriving.front().size(), max_frame_));
      frames[i].size = static_cast<uint32_t>(arriving.front().size());
      std::copy(arriving.front().begin(), arriving.front().end(), frames[i].data);
      arriving.pop_front();
    }
    return count;
  }
  size_t allocate(std::span<Frame> frames) override {
    for (Frame& frame : frames) frame = make(max_frame_);
    return frames.size();
  }
  size_t send(std::span<Frame> frames) override {
    const size_t count = std::min(frames.size(), room);
    for (size_t i = 0; i < count; ++i) sent.emplace_back(frames[i].data, frames[i].data + frames[i].size);
    release(frames.first(count));
    room -= count;
    return count;
  }
  void release(std::span<Frame> frames) override {
    for (Frame& frame : frames) {
      delete static_cast<std::vector<uint8_t>*>(frame.buffer);
      --buffers_out;
    }
  }
  uint32_t max_frame() const override { return max_frame_; }

  std::deque<std::vector<uint8_t>> arriving;
  std::vector<std::vector<uint8_t>> sent;
  size_t room = SIZE_MAX;  // frames that send() still takes
  int buffers_out = 0;

 private:
  Frame make(size_t capacity) {
    auto* bytes = new std::vector<uint8_t>(capacity);
    ++buffers_out;
    return {.data = bytes->data(), .size = 0, .capacity = static_cast<uint32_t>(capacity), .buffer = bytes};
  }

  uint32_t max_frame_;
};

}  // namespace tictac
