#pragma once

#include <cstdint>

#include "dataplane/base/address.h"
#include "dataplane/base/types.h"

namespace tictac {

// Internet checksum (RFC 1071) as a running sum: add parts, fold at the end. Every part but the last must
// have an even length. Network byte order throughout; the result is the number to write with ByteWriter::u16.
class InternetSum {
 public:
  void add(ByteSpan bytes);
  void add_u16(uint16_t value) { sum_ += value; }
  void add_u32(uint32_t value) { sum_ += (value >> 16) + (value & 0xffff); }

  // The field to send: complement of the folded sum. Over bytes that hold a right checksum it is 0.
  uint16_t checksum() const;

 private:
  uint64_t sum_ = 0;  // of big-endian 16-bit words; cannot overflow below 2^48 words
};

// The checksum of one piece: an IPv4 header, an ICMP message.
uint16_t checksum_of(ByteSpan bytes);

// UDP checksum over pseudo header, header and payload (RFC 768). `datagram` starts at the UDP header, at most
// 65,535 bytes. When the checksum field in it is zero, the result is the value to write, already turned from
// 0 to 0xffff; when the field holds a right checksum, the result is 0xffff.
uint16_t udp_checksum(Ipv4 source, Ipv4 destination, ByteSpan datagram);

}  // namespace tictac
