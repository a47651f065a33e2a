#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace tictac {

// Bounded queue between exactly one producing and one consuming thread; no lock, no allocation after
// construction. Capacity is a power of two. try_push fails when full: the caller keeps the item and counts or
// retries.
template <typename T>
class SpscRing {
 public:
  explicit SpscRing(size_t capacity) : slots_(capacity), mask_(capacity - 1) {}
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  // Producer only. On failure `item` is unchanged.
  bool try_push(T&& item) {
    const size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - cached_head_ == slots_.size()) {
      cached_head_ = head_.load(std::memory_order_acquire);
      if (tail - cached_head_ == slots_.size()) return false;
    }
    slots_[tail & mask_] = std::move(item);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  // Consumer only.
  std::optional<T> try_pop() {
    const size_t head = head_.load(std::memory_order_relaxed);
    if (head == cached_tail_) {
      cached_tail_ = tail_.load(std::memory_order_acquire);
      if (head == cached_tail_) return std::nullopt;
    }
    std::optional<T> item(std::move(slots_[head & mask_]));
    head_.store(head + 1, std::memory_order_release);
    return item;
  }

  // Either thread; true only if nothing was queued at some moment of the call.
  bool empty() const {
    return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_acquire);
  }
  size_t capacity() const { return slots_.size(); }

 private:
  std::vector<T> slots_;
  const size_t mask_;
  alignas(64) std::atomic<size_t> head_{0};
  size_t cached_tail_ = 0;  // consumer's
  alignas(64) std::atomic<size_t> tail_{0};
  size_t cached_head_ = 0;  // producer's
};

}  // namespace tictac
