#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tictac {

// The newest copy of T, written by one thread without waiting, read by any (a sequence lock; H. Boehm, "Can
// seqlocks get along with programming language memory models?", 2012).
template <typename T>
class StatsBoard {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Writer only.
  void publish(const T& value) {
    std::array<uint64_t, kWords> words{};
    std::memcpy(words.data(), &value, sizeof value);
    const uint64_t sequence = sequence_.load(std::memory_order_relaxed);
    sequence_.store(sequence + 1, std::memory_order_relaxed);
    for (size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_release);
    sequence_.store(sequence + 2, std::memory_order_release);
  }

  // Any thread. A value-initialised T before the first publish().
  T read() const {
    std::array<uint64_t, kWords> words;
    uint64_t before = 0;
    do {
      before = sequence_.load(std::memory_order_acquire);
      for (size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
    } while (before % 2 != 0 || sequence_.load(std::memory_order_relaxed) != before);
    T value{};
    if (before != 0) std::memcpy(static_cast<void*>(&value), words.data(), sizeof value);
    return value;
  }

 private:
  static constexpr size_t kWords = (sizeof(T) + 7) / 8;
  std::atomic<uint64_t> sequence_{0};
  std::array<std::atomic<uint64_t>, kWords> words_{};
};

}  // namespace tictac
