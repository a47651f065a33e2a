#include "dataplane/transport/stream/stream_table.h"

namespace tictac {

Stream* StreamTable::add(uint64_t id, bool opened_by_us) {
  uint32_t& count = count_of(opened_by_us);
  if (count >= most_ || by_id_.contains(id)) return nullptr;
  ++count;
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(slots_.size()));
    slots_.push_back(std::make_unique<Stream>());
    slots_.back()->slot = free_.back();
  }
  const uint32_t slot = free_.back();
  free_.pop_back();
  by_id_.emplace(id, slot);
  Stream& stream = *slots_[slot];
  stream.id = id;
  ++stream.generation;
  stream.in_use = true;
  stream.opened_by_us = opened_by_us;
  stream.told_abandoned = false;
  stream.node = StreamNode{};
  stream.node.stream = &stream;
  stream.arrival = ArrivingTransfer{};
  stream.rerank_number = 0;
  stream.request_is_empty = stream.open_was_sent = false;
  stream.preamble.clear();
  stream.pending = stream.unacked = 0;
  stream.reset_code = stream.stop_code = 0;
  return &stream;
}

void StreamTable::remove(Stream& stream) {
  by_id_.erase(stream.id);
  --count_of(stream.opened_by_us);
  stream.in_use = false;
  free_.push_back(stream.slot);
}

Stream* StreamTable::find(uint64_t id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : slots_[found->second].get();
}

Stream* StreamTable::find(uint32_t slot, uint32_t generation) {
  if (slot >= slots_.size()) return nullptr;
  Stream& stream = *slots_[slot];
  return stream.in_use && stream.generation == generation ? &stream : nullptr;
}

}  // namespace tictac
