#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ps_proxy/client/arena.h"
#include "ps_proxy/client/native_abi.h"
#include "ps_proxy/client/shared_ring.h"
#include "ps_proxy/client/tictac.h"

namespace tictac::native {

// Notes why a call failed, for tictac_error(), and returns `status`.
int fail(int status, std::string why);
// The same with the text of errno.
int fail_system(const std::string& what);

// Owns a descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();
  int get() const { return fd_; }
  int release();
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Connects to the proxy's socket; a tictac_status.
int open_socket(const std::string& path, Fd* out);

// Owns shared memory that was mapped and touched.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  // False with errno when the descriptor does not carry `size` bytes or there is no memory.
  bool map(int fd, size_t size);
  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

// Fetches under way: tags to slots, free slots, and how often each slot was used.
class FetchSlots {
 public:
  explicit FetchSlots(uint32_t count);
  bool full() const { return free_.empty(); }
  bool has(uint64_t tag) const { return slot_of_.count(tag) != 0; }
  uint32_t take(uint64_t tag);
  const uint32_t* find(uint64_t tag) const;
  uint32_t sequence(uint32_t slot) const { return slots_[slot].sequence; }
  // The fetch ended: gives its tag and frees the slot; false for a slot without a fetch.
  bool finish(uint32_t slot, uint64_t* tag);

 private:
  struct Slot {
    uint64_t tag = 0;
    uint32_t sequence = 0;
    bool in_use = false;
  };
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  std::unordered_map<uint64_t, uint32_t> slot_of_;
};

}  // namespace tictac::native

struct tictac_client {
  tictac_client(uint64_t arena_bytes, uint32_t max_operations)
      : arena(arena_bytes), fetches(max_operations) {}

  tictac::native::Fd socket;
  tictac::native::Fd doorbell;
  tictac::native::Mapping control;
  tictac::native::Mapping memory;
  tictac::native::RingWriter submissions;
  tictac::native::RingReader events;
  tictac::native::Arena arena;
  tictac::native::FetchSlots fetches;
  std::vector<std::string> peers;
  std::vector<std::string> names;
  std::unordered_map<std::string, tictac_name_id> name_ids;
  int64_t spin_ns = 0;
  int64_t looked_at_socket_ns = 0;
  uint32_t stats_id = 0;
  bool gone = false;
  tictac_client_counters counters{};
};
