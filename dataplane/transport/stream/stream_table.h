#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "dataplane/transport/stream/stream.h"

namespace tictac {

// The streams of one session by slot (stable address, reused) and by id. Generations go on over reuse, so a
// stale (slot, generation) finds nothing.
class StreamTable {
 public:
  // At most `most_streams` opened by each side, so that neither takes the other's places.
  explicit StreamTable(uint32_t most_streams) : most_(most_streams) {}

  // A fresh stream under `id`, or null when that side has its most or the id is taken.
  Stream* add(uint64_t id, bool opened_by_us);
  void remove(Stream& stream);
  Stream* find(uint64_t id);
  Stream* find(uint32_t slot, uint32_t generation);
  uint32_t size() const { return static_cast<uint32_t>(by_id_.size()); }

  // Visits every stream; the visitor may remove the one it is given.
  template <typename Visit>
  void for_each(Visit visit) {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i]->in_use) visit(*slots_[i]);
    }
  }

 private:
  uint32_t& count_of(bool opened_by_us) { return opened_by_us ? ours_ : theirs_; }

  uint32_t most_;
  uint32_t ours_ = 0;
  uint32_t theirs_ = 0;
  std::vector<std::unique_ptr<Stream>> slots_;
  std::vector<uint32_t> free_;
  absl::flat_hash_map<uint64_t, uint32_t> by_id_;
};

}  // namespace tictac
