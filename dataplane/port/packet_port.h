#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/base/types.h"

namespace tictac {

// One Ethernet frame in a buffer of the port's. Opaque beyond its bytes.
struct Frame {
  uint8_t* data = nullptr;          // first byte of the Ethernet header
  uint32_t size = 0;                // bytes of the frame, without FCS
  uint32_t capacity = 0;            // bytes that fit at `data`
  void* buffer = nullptr;           // the port's own handle (an rte_mbuf in DpdkPort)
  bool checksums_verified = false;  // received: the device has checked those of IPv4 and UDP
  ByteSpan bytes() const { return {data, size}; }
  MutableByteSpan room() const { return {data, capacity}; }
};

// The narrow line between the dataplane and packet I/O: one virtual call per burst. Lcore only; nothing
// blocks or allocates from the heap.
class PacketPort {
 public:
  virtual ~PacketPort() = default;

  // Fills `frames` with received frames; returns how many. The caller owns them until release() or send().
  virtual size_t receive(std::span<Frame> frames) = 0;

  // Fills `frames` with empty frames of full capacity for sending; returns how many there were. Caller owns
  // them.
  virtual size_t allocate(std::span<Frame> frames) = 0;

  // Takes the first n frames (n returned) and gives them to the device; the rest stay the caller's, to be
  // offered again later: a refused frame is never lost.
  virtual size_t send(std::span<Frame> frames) = 0;

  // Gives frames back unsent.
  virtual void release(std::span<Frame> frames) = 0;

  // Largest frame in bytes, without FCS, that send() takes now.
  virtual uint32_t max_frame() const = 0;

  // Whether frames can reach the other end of the cable now. Cheap; may lag behind by some milliseconds.
  virtual bool link_up() const { return true; }

  // Sleeping. prepare_to_sleep() asks the device to make wake_fd() readable when a frame arrives, and returns
  // false when it cannot: then the owner takes short naps instead. The owner must call receive() once more
  // after prepare_to_sleep() and before it sleeps. resume() follows every prepare_to_sleep(), whatever that
  // returned. wake_fd() may be asked between the two.
  virtual bool prepare_to_sleep() { return false; }
  virtual void resume() {}
  virtual int wake_fd() const { return -1; }
};

}  // namespace tictac
