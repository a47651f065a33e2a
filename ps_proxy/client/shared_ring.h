#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tictac::native {

// Queue of 64-byte entries in memory shared by two processes that do not trust each other: one writes, one
// reads. Each side works from a private copy of its own index and checks what it reads of the other's, so a
// hostile partner can stop the queue but cannot make this side read or write outside of it.
//
// Sleeping (Dekker's protocol). The reader, before it sleeps: sleeping = 1; look at `tail` again; sleep only
// if nothing is there. The writer, after it has published: tail = new; look at `sleeping`; ring the doorbell
// if it is set. The four accesses are sequentially consistent, so they have one order in which either the
// reader sees the entry or the writer sees the flag: no wake-up is lost, and a busy reader costs the writer
// no system call. (Release and acquire would not do: each side's load could be taken before its own store is
// visible.)
struct RingIndexes {
  alignas(64) std::atomic<uint32_t> tail;      // writer's: entries published, modulo 2^32
  alignas(64) std::atomic<uint32_t> head;      // reader's: entries taken
  alignas(64) std::atomic<uint32_t> sleeping;  // set by the reader, taken back by either
};
static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<uint64_t>::is_always_lock_free);

inline constexpr size_t kEntrySize = 64;
using EntryWords = std::array<uint64_t, kEntrySize / 8>;
// Word by word and atomic, so that the value read is one value even while the partner scribbles over it.
using SharedEntry = std::array<std::atomic<uint64_t>, kEntrySize / 8>;

class RingWriter {
 public:
  RingWriter() = default;
  // `capacity` is a power of two.
  RingWriter(RingIndexes* indexes, SharedEntry* entries, uint32_t capacity)
      : indexes_(indexes), entries_(entries), capacity_(capacity) {}

  // Entries that fit now. When the reader's index is impossible the ring is broken: no room, for ever.
  uint32_t room() {
    const uint32_t used = tail_ - indexes_->head.load(std::memory_order_acquire);
    if (used > capacity_) broken_ = true;
    return broken_ ? 0 : capacity_ - used;
  }
  // room() was at least one more than the pushes since.
  template <typename Entry>
  void push(const Entry& entry) {
    static_assert(sizeof(Entry) == kEntrySize);
    const auto words = std::bit_cast<EntryWords>(entry);
    SharedEntry& slot = entries_[tail_ & (capacity_ - 1)];
    for (size_t i = 0; i < words.size(); ++i) slot[i].store(words[i], std::memory_order_relaxed);
    ++tail_;
  }
  // Shows what was pushed. True when the reader sleeps and its doorbell must be rung, once.
  bool publish() {
    if (published_ == tail_) return false;
    published_ = tail_;
    indexes_->tail.store(tail_, std::memory_order_seq_cst);
    return indexes_->sleeping.load(std::memory_order_seq_cst) != 0 &&
           indexes_->sleeping.exchange(0, std::memory_order_seq_cst) != 0;
  }
  bool broken() const { return broken_; }

 private:
  RingIndexes* indexes_ = nullptr;
  SharedEntry* entries_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t tail_ = 0;
  uint32_t published_ = 0;
  bool broken_ = false;
};

class RingReader {
 public:
  RingReader() = default;
  RingReader(RingIndexes* indexes, SharedEntry* entries, uint32_t capacity)
      : indexes_(indexes), entries_(entries), capacity_(capacity) {}

  // Entries to read now. When the writer's index is impossible the ring is broken: nothing, for ever.
  uint32_t available() {
    const uint32_t count = indexes_->tail.load(std::memory_order_acquire) - head_;
    if (count > capacity_) broken_ = true;
    return broken_ ? 0 : count;
  }
  // A private copy of the entry `ahead` of the oldest; ahead < available().
  template <typename Entry>
  Entry peek(uint32_t ahead = 0) const {
    static_assert(sizeof(Entry) == kEntrySize);
    EntryWords words;
    const SharedEntry& slot = entries_[(head_ + ahead) & (capacity_ - 1)];
    for (size_t i = 0; i < words.size(); ++i) words[i] = slot[i].load(std::memory_order_relaxed);
    return std::bit_cast<Entry>(words);
  }
  // Gives the oldest `count` entries back to the writer; count <= available().
  void release(uint32_t count) {
    head_ += count;
    indexes_->head.store(head_, std::memory_order_release);
  }
  // True: the writer will ring for the next entry. False: one is there, do not sleep.
  bool prepare_to_sleep() {
    indexes_->sleeping.store(1, std::memory_order_seq_cst);
    if (indexes_->tail.load(std::memory_order_seq_cst) == head_) return true;
    resume();
    return false;
  }
  void resume() { indexes_->sleeping.store(0, std::memory_order_relaxed); }
  bool broken() const { return broken_; }

 private:
  RingIndexes* indexes_ = nullptr;
  SharedEntry* entries_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t head_ = 0;
  bool broken_ = false;
};

}  // namespace tictac::native
