#include <algorithm>

#include "dataplane/base/byte_reader.h"
#include "dataplane/net/checksum.h"
#include "dataplane/net/headers.h"

namespace tictac {
namespace {

constexpr uint8_t kIcmpEchoRequest = 8;
constexpr uint16_t kMoreFragments = 0x2000;
constexpr uint16_t kFragmentOffset = 0x1fff;

MacAddress read_mac(ByteReader& reader) {
  MacAddress mac;
  const ByteSpan bytes = reader.take(mac.bytes.size());
  std::ranges::copy(bytes, mac.bytes.begin());
  return mac;
}

FrameKind parse_arp(ByteReader reader, ParsedFrame& out) {
  const uint16_t hardware = reader.u16();
  const uint16_t protocol = reader.u16();
  const uint8_t hardware_size = reader.u8();
  const uint8_t protocol_size = reader.u8();
  const uint16_t operation = reader.u16();
  out.arp_sender_mac = read_mac(reader);
  out.arp_sender = reader.u32();
  reader.take(6);
  out.arp_target = reader.u32();
  if (!reader.ok()) return FrameKind::kShortFrame;
  const bool known = hardware == 1 && protocol == kEtherTypeIpv4 && hardware_size == 6 &&
                     protocol_size == 4 && (operation == 1 || operation == 2);
  if (!known) return FrameKind::kBadArp;
  out.arp_is_request = operation == 1;
  return FrameKind::kArp;
}

FrameKind parse_udp(ByteSpan datagram, bool checksums_verified, ParsedFrame& out) {
  ByteReader reader(datagram);
  out.source.port = reader.u16();
  out.destination.port = reader.u16();
  const uint16_t length = reader.u16();
  const uint16_t checksum = reader.u16();
  if (!reader.ok()) return FrameKind::kShortFrame;
  if (length < kUdpHeader || length > datagram.size()) return FrameKind::kBadUdpLength;
  if (checksum != 0 && !checksums_verified &&
      udp_checksum(out.source.ip, out.destination.ip, datagram.first(length)) != 0xffff) {
    return FrameKind::kBadUdpChecksum;
  }
  out.payload = datagram.subspan(kUdpHeader, length - kUdpHeader);
  return FrameKind::kUdp;
}

FrameKind parse_icmp(ByteSpan message, ParsedFrame& out) {
  if (message.size() < 8) return FrameKind::kShortFrame;
  if (message[0] != kIcmpEchoRequest || message[1] != 0) return FrameKind::kOtherIpv4;
  if (checksum_of(message) != 0) return FrameKind::kBadIcmpChecksum;
  out.payload = message;
  return FrameKind::kIcmpEcho;
}

FrameKind parse_ipv4(ByteSpan bytes, bool checksums_verified, ParsedFrame& out) {
  if (bytes.size() < kIpv4Header) return FrameKind::kShortFrame;
  ByteReader reader(bytes);
  const uint8_t version_and_length = reader.u8();
  out.tos = reader.u8();
  const uint16_t total = reader.u16();
  reader.u16();  // ID
  const uint16_t fragment = reader.u16();
  reader.u8();  // TTL
  out.protocol = reader.u8();
  reader.u16();  // checksum
  out.source.ip = reader.u32();
  out.destination.ip = reader.u32();

  const size_t header = size_t{4} * (version_and_length & 0x0f);
  if (version_and_length >> 4 != 4 || header < kIpv4Header || total < header)
    return FrameKind::kBadIpv4Header;
  if (total > bytes.size()) return FrameKind::kShortFrame;
  if (!checksums_verified && checksum_of(bytes.first(header)) != 0) return FrameKind::kBadIpv4Checksum;
  if ((fragment & (kMoreFragments | kFragmentOffset)) != 0) return FrameKind::kFragment;
  out.ip_packet = bytes.first(total);
  const ByteSpan payload = out.ip_packet.subspan(header);
  if (out.protocol == kProtocolUdp) return parse_udp(payload, checksums_verified, out);
  if (out.protocol == kProtocolIcmp) return parse_icmp(payload, out);
  return FrameKind::kOtherIpv4;
}

}  // namespace

ParsedFrame parse_frame(ByteSpan frame, bool checksums_verified) {
  ParsedFrame out;
  ByteReader reader(frame);
  out.destination_mac = read_mac(reader);
  out.source_mac = read_mac(reader);
  out.ether_type = reader.u16();
  if (!reader.ok()) return out;
  if (out.ether_type == kEtherTypeIpv4) {
    out.kind = parse_ipv4(reader.rest(), checksums_verified, out);
  } else if (out.ether_type == kEtherTypeArp) {
    out.kind = parse_arp(reader, out);
  } else {
    out.kind = FrameKind::kOtherEther;
  }
  return out;
}

const char* name_of(FrameKind kind) {
  switch (kind) {
    case FrameKind::kUdp:
      return "udp";
    case FrameKind::kArp:
      return "arp";
    case FrameKind::kIcmpEcho:
      return "icmp_echo";
    case FrameKind::kOtherIpv4:
      return "other_ipv4";
    case FrameKind::kOtherEther:
      return "other_ether";
    case FrameKind::kShortFrame:
      return "short_frame";
    case FrameKind::kBadIpv4Header:
      return "bad_ipv4_header";
    case FrameKind::kBadIpv4Checksum:
      return "bad_ipv4_checksum";
    case FrameKind::kFragment:
      return "fragment";
    case FrameKind::kBadUdpLength:
      return "bad_udp_length";
    case FrameKind::kBadUdpChecksum:
      return "bad_udp_checksum";
    case FrameKind::kBadIcmpChecksum:
      return "bad_icmp_checksum";
    case FrameKind::kBadArp:
      return "bad_arp";
    case FrameKind::kCount:
      break;
  }
  return "unknown";
}

}  // namespace tictac
