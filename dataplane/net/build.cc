#include <algorithm>

#include "dataplane/base/byte_writer.h"
#include "dataplane/net/checksum.h"
#include "dataplane/net/headers.h"

namespace tictac {
namespace {

constexpr uint16_t kDoNotFragment = 0x4000;
constexpr size_t kIpv4ChecksumOffset = 10;
constexpr size_t kUdpChecksumOffset = 6;
constexpr size_t kIcmpChecksumOffset = 2;

void write_u16(MutableByteSpan at, uint16_t value) { ByteWriter(at).u16(value); }

void write_ethernet(ByteWriter& out, const MacAddress& to, const MacAddress& from, uint16_t type) {
  out.bytes(to.bytes);
  out.bytes(from.bytes);
  out.u16(type);
}

struct Ipv4Fields {
  Ipv4 source;
  Ipv4 destination;
  uint8_t protocol;
  uint8_t tos;
  uint8_t ttl;
  size_t total;  // fits 16 bits
};

// `header` is 20 bytes.
void write_ipv4(const Ipv4Fields& fields, MutableByteSpan header) {
  ByteWriter out(header);
  out.u8(0x45);
  out.u8(fields.tos);
  out.u16(static_cast<uint16_t>(fields.total));
  out.u16(0);
  out.u16(kDoNotFragment);
  out.u8(fields.ttl);
  out.u8(fields.protocol);
  out.u16(0);
  out.u32(fields.source);
  out.u32(fields.destination);
  write_u16(header.subspan(kIpv4ChecksumOffset), checksum_of(header));
}

}  // namespace

size_t write_udp_headers(const UdpPath& path, size_t payload_size, MutableByteSpan frame) {
  const size_t datagram = kUdpHeader + payload_size;
  const size_t total = kIpv4Header + datagram;
  if (total > 0xffff || kEthernetHeader + total > frame.size()) return 0;
  ByteWriter ethernet(frame);
  write_ethernet(ethernet, path.destination_mac, path.source_mac, kEtherTypeIpv4);
  write_ipv4({.source = path.source.ip,
              .destination = path.destination.ip,
              .protocol = kProtocolUdp,
              .tos = path.tos,
              .ttl = path.ttl,
              .total = total},
             frame.subspan(kEthernetHeader, kIpv4Header));
  const MutableByteSpan udp = frame.subspan(kEthernetHeader + kIpv4Header, datagram);
  ByteWriter out(udp);
  out.u16(path.source.port);
  out.u16(path.destination.port);
  out.u16(static_cast<uint16_t>(datagram));
  out.u16(0);
  if (path.checksum) {
    write_u16(udp.subspan(kUdpChecksumOffset), udp_checksum(path.source.ip, path.destination.ip, udp));
  }
  return kEthernetHeader + total;
}

size_t write_arp(const ArpFields& fields, MutableByteSpan frame) {
  if (frame.size() < kArpFrame) return 0;
  ByteWriter out(frame);
  write_ethernet(out, fields.destination_mac, fields.sender_mac, kEtherTypeArp);
  out.u16(1);  // Ethernet
  out.u16(kEtherTypeIpv4);
  out.u8(6);
  out.u8(4);
  out.u16(fields.is_request ? 1 : 2);
  out.bytes(fields.sender_mac.bytes);
  out.u32(fields.sender);
  out.bytes(fields.target_mac.bytes);
  out.u32(fields.target);
  return out.size();
}

size_t write_icmp_echo_reply(const ParsedFrame& request, const MacAddress& local_mac, MutableByteSpan frame) {
  const size_t total = kIpv4Header + request.payload.size();
  if (total > 0xffff || kEthernetHeader + total > frame.size()) return 0;
  ByteWriter ethernet(frame);
  write_ethernet(ethernet, request.source_mac, local_mac, kEtherTypeIpv4);
  write_ipv4({.source = request.destination.ip,
              .destination = request.source.ip,
              .protocol = kProtocolIcmp,
              .tos = request.tos,
              .ttl = 64,
              .total = total},
             frame.subspan(kEthernetHeader, kIpv4Header));
  const MutableByteSpan message = frame.subspan(kEthernetHeader + kIpv4Header, request.payload.size());
  std::ranges::copy(request.payload, message.begin());
  message[0] = 0;  // echo reply
  write_u16(message.subspan(kIcmpChecksumOffset), 0);
  write_u16(message.subspan(kIcmpChecksumOffset), checksum_of(message));
  return kEthernetHeader + total;
}

}  // namespace tictac
