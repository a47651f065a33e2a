#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/base/clock.h"
#include "dataplane/base/types.h"
#include "dataplane/sched/transfer_node.h"

namespace tictac::wire {

inline constexpr uint8_t kMagic = 0x54;
inline constexpr uint8_t kVersion = 1;
inline constexpr size_t kHeaderSize = 32;
inline constexpr uint32_t kNoRank = 0xffffffff;
inline constexpr uint32_t kNoStream = 0xffffffff;

// A time as it travels: microseconds of the sender's clock, low 32 bits.
constexpr uint32_t time_us(Time time) { return static_cast<uint32_t>(time.time_since_epoch() / 1us); }

enum Flag : uint8_t {
  kKeyPhase = 1,        // reserved
  kTagged = 2,          // reserved: a 16-byte tag ends the datagram in the checksum's place
  kHello = 4,           // holds one HELLO and no packet number
  kRetransmission = 8,  // carries lost bytes again
  kAckEliciting = 16,
};

// The clear part of every datagram; README.md has the layout. A relay reads this and nothing else.
struct Header {
  uint8_t flags = 0;
  TransferClass transfer_class = TransferClass::kControl;  // of the first stream
  uint32_t session = 0;
  uint32_t rank = kNoRank;  // best inside
  uint64_t number = 0;
  uint32_t stream = kNoStream;
  uint32_t send_time_us = 0;
};

enum class HeaderResult : uint8_t { kOk, kTruncated, kNotOurs };

// Reads the header of a UDP payload; does not look at the checksum.
HeaderResult parse_header(ByteSpan datagram, Header* header);
bool checksum_matches(ByteSpan datagram);

// Writes the header into the first kHeaderSize bytes of a whole datagram and seals it with the checksum.
void seal(MutableByteSpan datagram, const Header& header);

}  // namespace tictac::wire
