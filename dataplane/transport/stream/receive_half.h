#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dataplane/base/types.h"
#include "dataplane/sched/transfer_node.h"
#include "dataplane/transport/stream/range_set.h"
#include "dataplane/transport/transfer.h"

namespace tictac {

// The receiving direction of a stream: takes bytes in any order, hands each to the sink once, checks limits
// and the final size. Without a sink (none wanted, or given up) it counts and throws away, so that the flow
// control of the session stays right. Pooled: start() makes it new.
class ReceiveHalf {
 public:
  static constexpr size_t kMostRanges = 4096;  // holes a hostile or very lossy sender may leave

  enum class Result : uint8_t { kOk, kBeyondLimit, kBadFinalSize, kTooManyHoles };

  // `sink` may be null: every byte is thrown away. `limit` is what the sender was told, or knows, it may
  // send.
  void start(TransferSink* sink, uint64_t limit);
  bool done() const { return done_; }
  bool has_sink() const { return sink_ != nullptr; }
  // Gives a half that was started without one its sink, before the first byte.
  void set_sink(TransferSink* sink) { sink_ = sink; }
  // Offset behind the highest byte seen: what counts against the session's limit.
  uint64_t highest() const { return highest_; }
  uint64_t limit() const { return advertised_; }
  // Bytes that came, each counted once.
  uint64_t received() const { return count_; }

  Result on_bytes(uint64_t offset, ByteSpan bytes, bool end);
  // The sender gave up after `final_size` bytes.
  Result on_reset(uint64_t final_size, uint32_t code);
  // The sink's limit, if it has grown by so much that the sender should know (thrown-away bytes move it too).
  std::optional<uint64_t> new_limit();

  // The receiver gives up: the sink gets its last call, later bytes are thrown away.
  void stop(StreamEnd why, uint32_t code);
  // Ends for good.
  void abort(StreamEnd why, uint32_t code);

 private:
  bool agrees(uint64_t end, bool is_final) const;
  void finish_if_complete();

  TransferSink* sink_ = nullptr;
  RangeSet received_;
  uint64_t highest_ = 0;
  uint64_t count_ = 0;
  uint64_t advertised_ = 0;
  std::optional<uint64_t> final_size_;
  bool done_ = true;
};

}  // namespace tictac
