#include "dataplane/net/udp_stack.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace tictac {
namespace {

constexpr Time kStart{100s};
const MacAddress kMacA = {{2, 0, 0, 0, 0, 0xa}};
const MacAddress kMacB = {{2, 0, 0, 0, 0, 0xb}};
const MacAddress kRouterMac = {{2, 0, 0, 0, 0, 0xc}};
const Address kA = {0x0a000001, 7471};
const Address kB = {0x0a000002, 7471};

using Bytes = std::vector<uint8_t>;

// Two stacks on a cable; `now` is the test's.
struct Host {
  Host(const MacAddress& mac, const Address& address) : stack(config(mac, address), kStart) {}

  static UdpStack::Config config(const MacAddress& mac, const Address& address) {
    return {.mac = mac, .local = address};
  }

  Bytes own_frame(Time now) {
    Bytes frame(UdpStack::kMaxOwnFrame);
    frame.resize(stack.next_own_frame(now, frame));
    return frame;
  }
  std::vector<Bytes> own_frames(Time now) {
    std::vector<Bytes> all;
    for (Bytes frame = own_frame(now); !frame.empty(); frame = own_frame(now)) all.push_back(frame);
    return all;
  }
  Bytes datagram(Time now, const Address& to, const std::string& text) {
    Bytes frame(kUdpPayloadOffset + text.size());
    std::ranges::copy(text, frame.begin() + kUdpPayloadOffset);
    frame.resize(stack.finish(now, to, text.size(), frame));
    return frame;
  }
  // The frame is kept until the next one: what was received borrows it.
  UdpStack::Received receive(Time now, Bytes frame) {
    received = std::move(frame);
    return stack.receive(now, received, false);
  }

  UdpStack stack;
  Bytes received;
};

std::string text_of(const UdpStack::Received& received) {
  return {received.payload.begin(), received.payload.end()};
}

struct UdpStackTest : testing::Test {
  void SetUp() override {
    a.own_frames(kStart);
    b.own_frames(kStart);
  }
  // Lets frames of the stacks' own go to and fro until there are none.
  void settle(Time now) {
    for (int round = 0; round < 10; ++round) {
      for (const Bytes& frame : a.own_frames(now)) deliver(now, b, frame);
      for (const Bytes& frame : b.own_frames(now)) deliver(now, a, frame);
    }
  }
  void deliver(Time now, Host& to, const Bytes& frame) {
    const auto received = to.receive(now, frame);
    if (received.is_datagram) arrived.push_back(text_of(received));
  }
  Host a{kMacA, kA};
  Host b{kMacB, kB};
  std::vector<std::string> arrived;
};

TEST_F(UdpStackTest, FirstSmallDatagramIsHeldUntilTheNeighbourIsKnown) {
  EXPECT_TRUE(a.datagram(kStart, kB, "hello").empty());
  EXPECT_EQ(a.stack.counters().unresolved_held, 1U);
  settle(kStart + 1ms);
  EXPECT_EQ(arrived, std::vector<std::string>{"hello"});
  const auto received = b.receive(kStart + 2ms, a.datagram(kStart + 2ms, kB, "second"));
  ASSERT_TRUE(received.is_datagram);
  EXPECT_EQ(text_of(received), "second");
  EXPECT_EQ(received.from, kA);
  EXPECT_EQ(a.stack.counters().datagrams_out, 2U);
  EXPECT_EQ(b.stack.counters().datagrams_in, 2U);
}

TEST_F(UdpStackTest, LargeDatagramToAnUnknownNeighbourIsCounted) {
  EXPECT_TRUE(a.datagram(kStart, kB, std::string(1400, 'x')).empty());
  EXPECT_EQ(a.stack.counters().unresolved, 1U);
}

TEST_F(UdpStackTest, LostAskIsRepeated) {
  a.datagram(kStart, kB, "hello");
  EXPECT_EQ(a.own_frames(kStart).size(), 1U);  // lost
  EXPECT_EQ(a.stack.next_deadline(), kStart + 50ms);
  settle(kStart + 50ms);
  EXPECT_EQ(arrived, std::vector<std::string>{"hello"});
}

TEST_F(UdpStackTest, AnswerNeedsNoAsk) {
  a.datagram(kStart, kB, "hello");
  b.datagram(kStart, kA, "wants a");  // b asks too, but a's datagram comes first
  EXPECT_EQ(b.own_frames(kStart).size(), 1U);
  settle(kStart + 1ms);
  EXPECT_FALSE(b.datagram(kStart + 2ms, kA, "answer").empty());
}

TEST_F(UdpStackTest, AnnouncesItselfTwiceAndAgainWhenTold) {
  Host c(kMacA, kA);
  const Bytes first = c.own_frame(kStart);
  const ParsedFrame arp = parse_frame(first);
  EXPECT_EQ(arp.destination_mac, kBroadcastMac);
  EXPECT_EQ(arp.arp_sender, kA.ip);
  EXPECT_EQ(arp.arp_target, kA.ip);
  EXPECT_TRUE(c.own_frame(kStart).empty());
  EXPECT_EQ(c.stack.next_deadline(), kStart + 2s);
  EXPECT_FALSE(c.own_frame(kStart + 2s).empty());
  EXPECT_EQ(c.stack.next_deadline(), kNever);
  c.stack.announce(kStart + 9s);
  EXPECT_FALSE(c.own_frame(kStart + 9s).empty());
}

TEST_F(UdpStackTest, MovedNeighbourIsFollowedByItsAnnouncement) {
  a.datagram(kStart, kB, "hello");
  settle(kStart);
  Host moved(kRouterMac, kB);
  a.receive(kStart + 1s, moved.own_frame(kStart + 1s));
  EXPECT_EQ(parse_frame(a.datagram(kStart + 1s, kB, "x")).destination_mac, kRouterMac);
}

TEST_F(UdpStackTest, AddressConflictIsCountedAndDefendedAtMostOnceInTenSeconds) {
  Host twin(kRouterMac, kA);
  const Bytes claim = twin.own_frame(kStart);
  a.own_frames(kStart + 2s);  // its second announcement
  for (int i = 0; i < 100; ++i) a.receive(kStart + 3s + i * 1ms, claim);
  EXPECT_EQ(a.stack.counters().address_conflicts, 100U);
  EXPECT_EQ(a.own_frames(kStart + 3s + 100ms).size(), 1U);
  a.receive(kStart + 14s, claim);
  EXPECT_EQ(a.own_frames(kStart + 14s).size(), 1U);
}

TEST_F(UdpStackTest, AnswersPing) {
  const Bytes payload = {8, 0, 0, 0, 0x12, 0x34, 0, 1, 'p', 'i', 'n', 'g', '!'};
  Bytes frame(kEthernetHeader + kIpv4Header + payload.size());
  ParsedFrame request;  // write_icmp_echo_reply makes a frame whose type we turn back into a request
  request.source_mac = kMacA;
  request.source.ip = kA.ip;
  request.destination.ip = kB.ip;
  request.payload = payload;
  ASSERT_EQ(write_icmp_echo_reply(request, kMacB, frame), frame.size());
  const Bytes reply = frame;
  frame[34] = 8;
  frame[36] = static_cast<uint8_t>(frame[36] - 8);  // checksum: one's complement arithmetic on the high byte
  std::swap_ranges(frame.begin(), frame.begin() + 6, frame.begin() + 6);
  std::swap_ranges(frame.begin() + 26, frame.begin() + 30, frame.begin() + 30);
  b.receive(kStart, frame);
  EXPECT_EQ(b.stack.counters().icmp_echo_in, 1U);
  EXPECT_EQ(b.own_frame(kStart), reply);
}

TEST_F(UdpStackTest, PeersBehindAGatewayUseItsAddress) {
  auto config = Host::config(kMacA, kA);
  config.gateway = 0x0a0000fe;
  config.static_neighbours = {{config.gateway, kRouterMac}};
  UdpStack stack(config, kStart);
  Bytes frame(kUdpPayloadOffset + 1);
  ASSERT_GT(stack.finish(kStart, {0xc0a80001, 7471}, 1, frame), 0U);
  EXPECT_EQ(parse_frame(frame).destination_mac, kRouterMac);
  EXPECT_EQ(parse_frame(frame).destination.ip, 0xc0a80001U);
}

TEST_F(UdpStackTest, ForeignFramesAreCountedByReason) {
  a.datagram(kStart, kB, "x");
  settle(kStart);
  const Bytes good = a.datagram(kStart, kB, "x");
  const auto count_of = [&](auto&& change) {
    Bytes frame = good;
    change(frame);
    const bool is_datagram = b.stack.receive(kStart, frame, true).is_datagram;
    EXPECT_FALSE(is_datagram);
    return b.stack.counters();
  };
  EXPECT_EQ(count_of([](Bytes& f) { f[5] ^= 1; }).other_mac, 1U);
  EXPECT_EQ(count_of([](Bytes& f) { f[33] ^= 4; }).other_address, 1U);
  EXPECT_EQ(count_of([](Bytes& f) { f[37] ^= 1; }).other_port, 1U);
  EXPECT_EQ(count_of([](Bytes& f) { f[6] |= 1; }).bad_source, 1U);
  EXPECT_EQ(count_of([](Bytes& f) { f[26] = 127; }).bad_source, 2U);
  EXPECT_EQ(count_of([](Bytes& f) { f[23] = 6; }).parse[static_cast<size_t>(FrameKind::kOtherIpv4)], 1U);
  EXPECT_EQ(count_of([](Bytes& f) { f.resize(20); }).parse[static_cast<size_t>(FrameKind::kShortFrame)], 1U);
}

TEST_F(UdpStackTest, AFloodOfArpRequestsOverflowsNothing) {
  Bytes frame(kArpFrame);
  for (uint32_t i = 0; i < 1000; ++i) {
    write_arp(
        {.destination_mac = kBroadcastMac, .sender_mac = kMacA, .sender = 0x0a000100 + i, .target = kB.ip},
        frame);
    b.receive(kStart, frame);
  }
  EXPECT_EQ(b.own_frames(kStart).size(), 16U);
  EXPECT_EQ(b.stack.counters().replies_refused, 984U);
}

}  // namespace
}  // namespace tictac
