#pragma once

#include <cstdint>

#include "dataplane/base/types.h"

namespace tictac {

// How one direction of a stream ended.
enum class StreamEnd : uint8_t {
  kComplete,  // every byte was delivered (source: acknowledged; sink: written)
  kReset,     // the sender gave up (its code is in the event)
  kStopped,   // the receiver wanted no more
  kPeerLost,  // the session ended: peer dead, restarted, closed or path lost
};

// The bytes that one direction of a stream sends. Owned by the application (gateway), kept alive until
// on_done. Every byte in [acked, available) must stay readable: packets are cut late and again after a loss.
// Lcore only; a call may use the endpoint as EndpointEvents may.
class TransferSource {
 public:
  virtual ~TransferSource() = default;
  // Bytes [0, available) can be read now. Grows only; after a change call Endpoint::notify.
  virtual uint64_t available() const = 0;
  // True when available() is the final size.
  virtual bool finished() const = 0;
  // Copies out.size() bytes from `offset`; offset + out.size() <= available().
  virtual void read(uint64_t offset, MutableByteSpan out) = 0;
  // Every byte before `offset` was received and will not be read again.
  virtual void on_acked(uint64_t offset) = 0;
  // The last call. `code` is the application code of a kStopped.
  virtual void on_done(StreamEnd end, uint32_t code) = 0;
};

// Takes the bytes that one direction of a stream receives, in the order in which packets arrive, each byte
// once. Owned by the application, kept alive until on_done. Lcore only; may use the
// endpoint as EndpointEvents may.
class TransferSink {
 public:
  virtual ~TransferSink() = default;
  // Bytes that may arrive, counted from the stream's first: its flow-control limit. Grows only; after a
  // change call Endpoint::notify. A sink with a buffer of its own says its size and never changes it.
  virtual uint64_t limit() const = 0;
  virtual void write(uint64_t offset, ByteSpan bytes) = 0;
  // Every byte before `offset` has been written.
  virtual void on_progress(uint64_t offset) = 0;
  // The last call. On kComplete `size` is the transfer's size.
  virtual void on_done(StreamEnd end, uint64_t size, uint32_t code) = 0;
};

}  // namespace tictac
