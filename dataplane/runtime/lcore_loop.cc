#include "dataplane/runtime/lcore_loop.h"

#include <algorithm>

#include "dataplane/net/headers.h"

namespace tictac {

LcoreLoop::LcoreLoop(const Config& config, PacketPort& port, UdpStack& stack, Endpoint& endpoint)
    : config_(config),
      port_(port),
      stack_(stack),
      endpoint_(endpoint),
      idle_(config.idle),
      retry_(config.first_retry) {
  config_.burst = std::clamp<size_t>(config.burst, 1, kMaxBurst);
}

LcoreLoop::~LcoreLoop() {
  port_.release({out_.data() + first_pending_, end_pending_ - first_pending_});
  port_.release({spare_.data(), spares_});
}

void LcoreLoop::add_task(LcoreTask& task) { tasks_.push_back(&task); }

size_t LcoreLoop::poll_once(Time now) {
  size_t work = receive(now);
  for (LcoreTask* task : tasks_) work += task->poll(now);
  work += transmit(now);
  note_blocked(now);
  watch_link(now);
  ++counters_.iterations;
  if (work > 0) {
    ++counters_.busy_iterations;
    idle_.on_work(now);
  }
  return work;
}

size_t LcoreLoop::receive(Time now) {
  const std::span<Frame> frames(in_.data(), port_.receive({in_.data(), config_.burst}));
  for (const Frame& frame : frames) {
    const UdpStack::Received got = stack_.receive(now, frame.bytes(), frame.checksums_verified);
    if (got.is_datagram) endpoint_.on_datagram(now, got.from, got.payload);
  }
  port_.release(frames);
  return frames.size();
}

size_t LcoreLoop::transmit(Time now) {
  if (!flush(now)) return 0;
  const size_t n = cut(now);
  if (n > 0) flush(now);
  return n;
}

// Cuts up to a burst of frames into out_, which is empty.
size_t LcoreLoop::cut(Time now) {
  if (spares_ < config_.burst) {
    spares_ += port_.allocate({spare_.data() + spares_, config_.burst - spares_});
  }
  pool_empty_ = spares_ == 0;
  size_t n = 0;
  while (n < config_.burst && spares_ > 0) {
    Frame& frame = spare_[spares_ - 1];
    size_t size = stack_.next_own_frame(now, frame.room());
    if (size == 0) {
      const auto datagram = endpoint_.next_datagram(now, frame.room().subspan(kUdpPayloadOffset));
      if (!datagram) break;
      size = stack_.finish(now, datagram->to, datagram->size, frame.room());
      if (size == 0) continue;  // held or lost, and counted
    }
    frame.size = static_cast<uint32_t>(size);
    out_[n++] = frame;
    --spares_;
  }
  first_pending_ = 0;
  end_pending_ = n;
  return n;
}

// Offers what was cut to the device. True when nothing is left of it.
bool LcoreLoop::flush(Time now) {
  if (first_pending_ == end_pending_) return true;
  const std::span<Frame> pending(out_.data() + first_pending_, end_pending_ - first_pending_);
  const size_t sent = port_.send(pending);
  first_pending_ += sent;
  if (sent > 0) {
    stalled_ = false;
    refused_since_ = kNever;
  }
  if (sent == pending.size()) return true;
  if (refused_since_ == kNever) refused_since_ = now;
  if (now - refused_since_ < config_.stall_after) return false;
  if (!stalled_) {
    stalled_ = true;
    ++counters_.stalls;
  }
  counters_.frames_discarded += pending.size() - sent;
  port_.release(pending.subspan(sent));
  first_pending_ = end_pending_;
  return true;
}

// The device took less than was offered, or has no empty frames: looks again soon, then less often.
void LcoreLoop::note_blocked(Time now) {
  if (first_pending_ == end_pending_ && !pool_empty_) {
    retry_ = config_.first_retry;
    retry_at_ = kNever;
  } else if (retry_at_ == kNever || now >= retry_at_) {
    retry_at_ = now + retry_;
    retry_ = std::min(retry_ * 2, config_.last_retry);
  }
}

void LcoreLoop::watch_link(Time now) {
  if (now < link_check_) return;
  link_check_ = now + config_.link_interval;
  const bool up = port_.link_up();
  if (up && !link_up_) stack_.announce(now);
  link_up_ = up;
}

Time LcoreLoop::next_deadline(Time now) const {
  Time deadline = std::min(endpoint_.next_deadline(now), stack_.next_deadline());
  // Nothing can be cut before the device or the pool gives way: no reason to spin, nor to sleep long.
  if (retry_at_ != kNever) deadline = retry_at_;
  for (const LcoreTask* task : tasks_) deadline = std::min(deadline, task->next_deadline());
  return deadline;
}

}  // namespace tictac
