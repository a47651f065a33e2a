#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dataplane/base/types.h"
#include "ps_proxy/client/shared_ring.h"
#include "ps_proxy/client/tictac.h"

// What client library and proxy share: the control memory and its entries. Changing any of it needs a new
// kAbiVersion (hello.h).
namespace tictac::native {

inline constexpr uint32_t kNone = UINT32_MAX;  // no name, no peer, no slot
inline constexpr uint32_t kMostOperations = 65536;
inline constexpr uint32_t kDefaultOperations = 4096;
inline constexpr uint32_t kMostPeers = 1024;
inline constexpr uint32_t kMostNames = 262144;  // of one client
inline constexpr uint64_t kMostArena = uint64_t{1} << 40;
static_assert(TICTAC_MAX_JOB == kMostNameBytes && TICTAC_MAX_APPLICATION == kMostNameBytes);

enum class Op : uint32_t {
  kName = 1,     // name, length; the text follows in text_entries(length) further entries
  kFetch = 2,    // name, peer, slot, offset, size
  kCancel = 3,   // slot, sequence
  kServe = 4,    // name
  kUnserve = 5,  // name
  kAnswer = 6,   // request, offset, size
  kDecline = 7,  // request
};

// Client to proxy. Slots number the fetches that are under way; the client chooses a free one, so that the
// proxy finds a fetch by an index. A slot is free again when its COMPLETE was taken.
struct Submission {
  Op op{};
  tictac_name_id name = kNone;
  tictac_peer_id peer = kNone;
  uint32_t slot = kNone;
  uint64_t offset = 0;  // in the arena
  uint64_t size = 0;
  uint64_t request = 0;
  uint32_t length = 0;    // of a name's text
  uint32_t sequence = 0;  // of a fetch: tells one use of its slot from the next
  uint64_t reserved[2] = {};
};
static_assert(sizeof(Submission) == kEntrySize);

struct TextEntry {
  char bytes[kEntrySize];
};
constexpr uint32_t text_entries(uint32_t length) {
  return static_cast<uint32_t>((length + kEntrySize - 1) / kEntrySize);
}

// Proxy to client: the event itself. In a COMPLETE `tag` is the sequence and `reserved` the slot; the library
// puts the application's tag there.
static_assert(sizeof(tictac_event) == kEntrySize);

struct ControlHeader {
  RingIndexes submissions;
  RingIndexes events;
  alignas(64) std::atomic<uint32_t> peer_up[kMostPeers];  // written by the proxy
};

// Where things lie in the control memory. Both sides compute it from the ring's capacities.
struct ControlLayout {
  uint32_t submission_capacity = 0;
  uint32_t event_capacity = 0;

  static ControlLayout of(uint32_t max_operations) {
    const uint32_t capacity = std::bit_ceil(max_operations < 256 ? 256 : max_operations);
    return {capacity * 2, capacity};
  }
  size_t submissions_at() const { return sizeof(ControlHeader); }
  size_t events_at() const { return submissions_at() + size_t{submission_capacity} * kEntrySize; }
  size_t size() const { return events_at() + size_t{event_capacity} * kEntrySize; }
};

// Typed views of mapped control memory.
inline ControlHeader* header_of(void* memory) { return static_cast<ControlHeader*>(memory); }
inline SharedEntry* entries_at(void* memory, size_t offset) {
  return reinterpret_cast<SharedEntry*>(static_cast<uint8_t*>(memory) + offset);
}

}  // namespace tictac::native
