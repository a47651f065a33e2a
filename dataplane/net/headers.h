#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/base/address.h"
#include "dataplane/base/types.h"

namespace tictac {

inline constexpr size_t kEthernetHeader = 14;
inline constexpr size_t kIpv4Header = 20;  // as we write it, without options
inline constexpr size_t kUdpHeader = 8;
// Bytes in front of a UDP payload: where the owner of a frame writes the payload in place.
inline constexpr size_t kUdpPayloadOffset = kEthernetHeader + kIpv4Header + kUdpHeader;
inline constexpr size_t kArpFrame = kEthernetHeader + 28;

inline constexpr uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr uint16_t kEtherTypeArp = 0x0806;
inline constexpr uint8_t kProtocolIcmp = 1;
inline constexpr uint8_t kProtocolUdp = 17;

// Largest UDP payload in a frame of an IP MTU.
constexpr size_t max_udp_payload(size_t mtu) {
  return mtu > kIpv4Header + kUdpHeader ? mtu - kIpv4Header - kUdpHeader : 0;
}

// What a frame is, or why it is of no use. From kFirstError on: reasons to drop it.
enum class FrameKind : uint8_t {
  kUdp,         // a whole UDP datagram over IPv4
  kArp,         // ARP for IPv4 over Ethernet
  kIcmpEcho,    // an ICMP echo request
  kOtherIpv4,   // well-formed IPv4, another protocol
  kOtherEther,  // another EtherType, IPv6 and VLAN tags too
  kFirstError,
  kShortFrame = kFirstError,  // ends inside a header or before the length in a header
  kBadIpv4Header,             // version, header length or total length impossible
  kBadIpv4Checksum,
  kFragment,  // we set DF and never fragment
  kBadUdpLength,
  kBadUdpChecksum,
  kBadIcmpChecksum,
  kBadArp,  // not IPv4 over Ethernet, or an unknown operation
  kCount,
};
const char* name_of(FrameKind kind);

// A parsed frame; spans borrow the frame. Fields past the layer that `kind` names are zero.
struct ParsedFrame {
  FrameKind kind = FrameKind::kShortFrame;
  MacAddress destination_mac;
  MacAddress source_mac;
  uint16_t ether_type = 0;
  uint8_t protocol = 0;
  uint8_t tos = 0;  // DSCP and ECN
  Address source;   // ports for UDP only
  Address destination;
  ByteSpan ip_packet;  // from the IPv4 header to its total length: Ethernet padding is cut off
  ByteSpan payload;    // of UDP; of ICMP from its type byte on
  // ARP only.
  bool arp_is_request = false;
  MacAddress arp_sender_mac;
  Ipv4 arp_sender = 0;
  Ipv4 arp_target = 0;
};

// Parses one frame without FCS. Checks lengths and checksums: the IPv4 header's always, unless the device has
// verified both (`checksums_verified`), and UDP's where it is not 0 (RFC 768 lets a sender omit it: tensors
// carry a CRC-32C of ours). Never fails otherwise.
ParsedFrame parse_frame(ByteSpan frame, bool checksums_verified = false);

// How a UDP frame is addressed.
struct UdpPath {
  MacAddress source_mac;
  MacAddress destination_mac;
  Address source;
  Address destination;
  uint8_t tos = 0;
  uint8_t ttl = 64;
  bool checksum = true;  // false: UDP checksum 0 is sent
};

// Writes Ethernet, IPv4 (DF set, RFC 6864 ID 0) and UDP headers in front of the payload that already stands
// at kUdpPayloadOffset. Returns the size of the frame, or 0 when `frame` or 16-bit lengths are too small.
size_t write_udp_headers(const UdpPath& path, size_t payload_size, MutableByteSpan frame);

// ARP for IPv4 over Ethernet (RFC 826). `destination_mac` is the Ethernet one; a request leaves target_mac
// zero.
struct ArpFields {
  bool is_request = true;
  MacAddress destination_mac;
  MacAddress sender_mac;
  Ipv4 sender = 0;
  MacAddress target_mac;
  Ipv4 target = 0;
};
// Returns kArpFrame, or 0 when `frame` is too small.
size_t write_arp(const ArpFields& fields, MutableByteSpan frame);

// The answer to a frame of kind kIcmpEcho, sent from `local_mac`. Returns its size or 0 if it does not fit.
size_t write_icmp_echo_reply(const ParsedFrame& request, const MacAddress& local_mac, MutableByteSpan frame);

}  // namespace tictac
