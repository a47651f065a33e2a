#include "dataplane/net/headers.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace tictac {
namespace {

const MacAddress kMacA = {{2, 0, 0, 0, 0, 0xa}};
const MacAddress kMacB = {{2, 0, 0, 0, 0, 0xb}};
const Address kA = {0x0a000001, 7471};
const Address kB = {0x0a000002, 7472};

std::vector<uint8_t> udp_frame(size_t payload_size, bool checksum = true) {
  std::vector<uint8_t> frame(kUdpPayloadOffset + payload_size);
  for (size_t i = kUdpPayloadOffset; i < frame.size(); ++i) frame[i] = static_cast<uint8_t>(i * 7 + 1);
  EXPECT_EQ(write_udp_headers({.source_mac = kMacA,
                               .destination_mac = kMacB,
                               .source = kA,
                               .destination = kB,
                               .checksum = checksum},
                              payload_size, frame),
            frame.size());
  return frame;
}

// Sets a byte and repairs the IPv4 header checksum, so that a test reaches the check behind it.
void set_ipv4(std::vector<uint8_t>& frame, size_t offset, uint8_t value) {
  frame[kEthernetHeader + offset] = value;
  frame[kEthernetHeader + 10] = frame[kEthernetHeader + 11] = 0;
  uint32_t sum = 0;
  for (size_t i = 0; i < 20; i += 2) sum += static_cast<uint32_t>(frame[14 + i] << 8 | frame[15 + i]);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  frame[kEthernetHeader + 10] = static_cast<uint8_t>(~sum >> 8);
  frame[kEthernetHeader + 11] = static_cast<uint8_t>(~sum);
}

// Checksums from another implementation of RFC 1071.
TEST(Headers, GoldenUdpFrame) {
  std::vector<uint8_t> frame(kUdpPayloadOffset + 3);
  std::ranges::copy(std::vector<uint8_t>{'a', 'b', 'c'}, frame.begin() + kUdpPayloadOffset);
  write_udp_headers({.source_mac = kMacA, .destination_mac = kMacB, .source = kA, .destination = kB}, 3,
                    frame);
  const std::vector<uint8_t> want = {2,    0,    0,    0,    0,    0x0b, 2,    0,    0,    0,    0,
                                     0x0a, 0x08, 0x00,  // Ethernet
                                     0x45, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x26,
                                     0xcc, 0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00, 0x00, 0x02,  // IPv4
                                     0x1d, 0x2f, 0x1d, 0x30, 0x00, 0x0b, 0xed, 0x13, 'a',  'b',  'c'};  // UDP
  EXPECT_EQ(frame, want);
}

TEST(ParseFrame, ReadsWhatWasWritten) {
  for (size_t size : {0, 1, 17, 18, 1472, 8972}) {
    const std::vector<uint8_t> frame = udp_frame(size);
    const ParsedFrame parsed = parse_frame(frame);
    ASSERT_EQ(parsed.kind, FrameKind::kUdp) << size;
    EXPECT_EQ(parsed.source, kA);
    EXPECT_EQ(parsed.destination, kB);
    EXPECT_EQ(parsed.source_mac, kMacA);
    EXPECT_EQ(parsed.destination_mac, kMacB);
    EXPECT_EQ(parsed.payload.size(), size);
    EXPECT_TRUE(std::ranges::equal(parsed.payload, ByteSpan(frame).subspan(kUdpPayloadOffset)));
  }
}

TEST(ParseFrame, CutsEthernetPadding) {
  std::vector<uint8_t> frame = udp_frame(1);
  frame.resize(60, 0xee);
  const ParsedFrame parsed = parse_frame(frame);
  ASSERT_EQ(parsed.kind, FrameKind::kUdp);
  EXPECT_EQ(parsed.payload.size(), 1U);
  EXPECT_EQ(parsed.ip_packet.size(), kIpv4Header + kUdpHeader + 1);
}

TEST(ParseFrame, EveryTruncationIsDropped) {
  const std::vector<uint8_t> frame = udp_frame(20);
  for (size_t size = 0; size < frame.size(); ++size) {
    EXPECT_GE(parse_frame(ByteSpan(frame).first(size)).kind, FrameKind::kFirstError) << size;
  }
}

TEST(ParseFrame, EveryFlippedBitFromTheIpHeaderOnIsSeen) {
  std::vector<uint8_t> frame = udp_frame(33);
  for (size_t bit = kEthernetHeader * 8; bit < frame.size() * 8; ++bit) {
    frame[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_GE(parse_frame(frame).kind, FrameKind::kFirstError) << "bit " << bit;
    frame[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
}

TEST(ParseFrame, UdpChecksumZeroIsAcceptedAndADeviceMayVouch) {
  EXPECT_EQ(parse_frame(udp_frame(40, false)).kind, FrameKind::kUdp);
  std::vector<uint8_t> wrong = udp_frame(40);
  wrong.back() ^= 1;
  EXPECT_EQ(parse_frame(wrong).kind, FrameKind::kBadUdpChecksum);
  EXPECT_EQ(parse_frame(wrong, true).kind, FrameKind::kUdp);
}

TEST(ParseFrame, HostileIpv4Headers) {
  struct Case {
    size_t offset;
    uint8_t value;
    FrameKind want;
  };
  for (const Case& c : {Case{0, 0x65, FrameKind::kBadIpv4Header}, Case{0, 0x44, FrameKind::kBadIpv4Header},
                        Case{3, 19, FrameKind::kBadIpv4Header}, Case{2, 0xff, FrameKind::kShortFrame},
                        Case{6, 0x20, FrameKind::kFragment}, Case{7, 0x01, FrameKind::kFragment},
                        Case{9, 6, FrameKind::kOtherIpv4}, Case{3, 27, FrameKind::kShortFrame},
                        Case{3, 28, FrameKind::kBadUdpLength}}) {
    std::vector<uint8_t> frame = udp_frame(40);
    set_ipv4(frame, c.offset, c.value);
    EXPECT_EQ(parse_frame(frame).kind, c.want) << "offset " << c.offset << " value " << int{c.value};
  }
}

TEST(ParseFrame, OptionsAreSkippedAndMayNotReachPastThePacket) {
  std::vector<uint8_t> frame = udp_frame(40);
  frame.insert(frame.begin() + kEthernetHeader + kIpv4Header, {1, 1, 1, 1});  // four NOPs
  frame[kEthernetHeader] = 0x46;
  frame[kEthernetHeader + 3] = static_cast<uint8_t>(frame[kEthernetHeader + 3] + 4);
  EXPECT_EQ(parse_frame(frame).kind, FrameKind::kBadIpv4Checksum);
  EXPECT_EQ(parse_frame(frame, true).kind, FrameKind::kUdp);
  EXPECT_EQ(parse_frame(frame, true).payload.size(), 40U);
  frame[kEthernetHeader] = 0x4f;
  EXPECT_NE(parse_frame(frame, true).kind, FrameKind::kUdp);
}

TEST(ParseFrame, OtherEtherTypesAreNamed) {
  std::vector<uint8_t> frame = udp_frame(4);
  frame[12] = 0x86;
  frame[13] = 0xdd;
  const ParsedFrame parsed = parse_frame(frame);
  EXPECT_EQ(parsed.kind, FrameKind::kOtherEther);
  EXPECT_EQ(parsed.ether_type, 0x86dd);
}

TEST(Arp, RoundTripTruncatedAndHostile) {
  std::vector<uint8_t> frame(kArpFrame);
  ASSERT_EQ(
      write_arp({.destination_mac = kBroadcastMac, .sender_mac = kMacA, .sender = kA.ip, .target = kB.ip},
                frame),
      kArpFrame);
  const ParsedFrame parsed = parse_frame(frame);
  ASSERT_EQ(parsed.kind, FrameKind::kArp);
  EXPECT_TRUE(parsed.arp_is_request);
  EXPECT_EQ(parsed.arp_sender_mac, kMacA);
  EXPECT_EQ(parsed.arp_sender, kA.ip);
  EXPECT_EQ(parsed.arp_target, kB.ip);
  for (size_t size = 0; size < kArpFrame; ++size) {
    EXPECT_EQ(parse_frame(ByteSpan(frame).first(size)).kind, FrameKind::kShortFrame);
  }
  for (size_t offset : {0, 2, 4, 5, 7}) {  // hardware, protocol, sizes, operation
    std::vector<uint8_t> bad = frame;
    bad[kEthernetHeader + offset] = 9;
    EXPECT_EQ(parse_frame(bad).kind, FrameKind::kBadArp) << offset;
  }
}

TEST(WriteHeaders, RefusesWhatDoesNotFit) {
  std::vector<uint8_t> frame(kUdpPayloadOffset + 10);
  EXPECT_EQ(write_udp_headers({}, 11, frame), 0U);
  std::vector<uint8_t> large(70000);
  EXPECT_EQ(write_udp_headers({}, 65508, large), 0U);
  EXPECT_GT(write_udp_headers({}, 65507, large), 0U);
  EXPECT_EQ(write_arp({}, MutableByteSpan(frame).first(41)), 0U);
}

TEST(FrameKind, EveryKindHasAName) {
  for (int k = 0; k < static_cast<int>(FrameKind::kCount); ++k) {
    EXPECT_NE(name_of(static_cast<FrameKind>(k)), std::string_view("unknown")) << k;
  }
}

}  // namespace
}  // namespace tictac
