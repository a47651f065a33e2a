#include "dataplane/relay/relay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/fakes/fake_port.h"

namespace tictac {
namespace {

constexpr Time kNow = Time(1s);
constexpr size_t kPayload = 200;

struct Sent {
  uint32_t stream = 0;
  uint64_t number = 0;
};

// A frame of ours as a sidecar would send it.
std::vector<uint8_t> our_frame(uint32_t stream, uint32_t rank, uint64_t number,
                               TransferClass transfer_class = TransferClass::kRanked,
                               size_t payload = kPayload) {
  std::vector<uint8_t> frame(kUdpPayloadOffset + wire::kHeaderSize + payload);
  wire::seal(
      MutableByteSpan(frame).subspan(kUdpPayloadOffset),
      {.transfer_class = transfer_class, .session = 7, .rank = rank, .number = number, .stream = stream});
  write_udp_headers({.source = {0x0a000001, 7471}, .destination = {0x0a000002, 7471}},
                    frame.size() - kUdpPayloadOffset, frame);
  return frame;
}

std::vector<Sent> parse(const FakePort& port) {
  std::vector<Sent> list;
  for (const auto& frame : port.sent) {
    wire::Header header;
    const ParsedFrame parsed = parse_frame(frame);
    if (parsed.kind != FrameKind::kUdp ||
        wire::parse_header(parsed.payload, &header) != wire::HeaderResult::kOk)
      continue;
    list.push_back({header.stream, header.number});
  }
  return list;
}

class RelayTest : public ::testing::Test {
 protected:
  // The link is slow, so that everything is in the queue before the second frame leaves.
  RelayDirection::Config config_{.link_rate = Rate(10'000'000), .queue = 256};
  FakePort in_;
  FakePort out_;

  void run(RelayDirection& relay) {
    Time now = kNow;
    for (int i = 0; i < 10'000 && !(in_.arriving.empty() && relay.empty()); ++i, now += 1ms)
      relay.poll_once(now);
    EXPECT_TRUE(relay.empty());
    EXPECT_EQ(in_.buffers_out, 0);
    EXPECT_EQ(out_.buffers_out, 0);
  }
  static uint64_t drops(const RelayDirection& relay, RelayVerdict verdict) {
    return relay.counters().drops[static_cast<size_t>(verdict)];
  }
};

TEST_F(RelayTest, SortsTransfersByRankAndKeepsEachInOrder) {
  for (uint64_t number = 1; number <= 20; ++number) {
    for (uint32_t stream = 0; stream < 4; ++stream)
      in_.arriving.push_back(our_frame(stream, 10 - stream, number));
  }
  RelayDirection relay(config_, in_, out_);
  run(relay);
  const auto sent = parse(out_);
  ASSERT_EQ(sent.size(), 80U);
  // The burst at the start may leave before all was read; behind it ranks rise.
  constexpr size_t kBurst = 16;
  for (size_t i = kBurst + 1; i < sent.size(); ++i) EXPECT_LE(sent[i].stream, sent[i - 1].stream) << i;
  std::array<uint64_t, 4> last{};
  for (const Sent& s : sent) EXPECT_EQ(s.number, ++last[s.stream]);
  EXPECT_EQ(relay.counters().inversions, 0U);
}

TEST_F(RelayTest, ANewRankMovesWhatWaits) {
  for (uint64_t number = 1; number <= 20; ++number) {
    in_.arriving.push_back(our_frame(1, 5, number));
    in_.arriving.push_back(our_frame(2, 6, number));
  }
  in_.arriving.push_back(our_frame(2, 0, 21));
  RelayDirection relay(config_, in_, out_);
  run(relay);
  const auto sent = parse(out_);
  EXPECT_EQ(sent.back().stream, 1U);
}

TEST_F(RelayTest, ControlGoesFirst) {
  for (uint64_t number = 1; number <= 30; ++number) in_.arriving.push_back(our_frame(1, 0, number));
  in_.arriving.push_back(our_frame(wire::kNoStream, wire::kNoRank, 31, TransferClass::kControl, 8));
  RelayDirection relay(config_, in_, out_);
  run(relay);
  const auto sent = parse(out_);
  size_t place = 0;
  while (sent[place].stream != wire::kNoStream) ++place;
  EXPECT_LT(place, 17U);
}

TEST_F(RelayTest, JudgesEveryKindAndCountsIt) {
  std::vector<uint8_t> arp(60);
  arp[12] = 0x08;
  arp[13] = 0x06;
  std::vector<uint8_t> ipv6(60);
  ipv6[12] = 0x86;
  ipv6[13] = 0xdd;
  std::vector<uint8_t> flipped = our_frame(1, 1, 1);
  flipped[kUdpPayloadOffset + 40] ^= 1;  // the UDP checksum no longer fits either
  std::vector<uint8_t> cut = our_frame(1, 1, 2);
  cut.resize(50);
  const std::vector<uint8_t> giant = our_frame(1, 1, 3, TransferClass::kRanked, 3000);
  for (const auto& frame : {ipv6, flipped, cut, giant, our_frame(1, 1, 4), std::vector<uint8_t>(3)})
    in_.arriving.push_back(frame);
  config_.pass_foreign = false;
  RelayDirection relay(config_, in_, out_);
  run(relay);
  EXPECT_EQ(out_.sent.size(), 1U);
  EXPECT_EQ(drops(relay, RelayVerdict::kForeign), 1U);
  EXPECT_EQ(drops(relay, RelayVerdict::kMalformed), 1U);
  EXPECT_EQ(drops(relay, RelayVerdict::kCut), 2U);
  EXPECT_EQ(drops(relay, RelayVerdict::kOversized), 1U);
  EXPECT_EQ(relay.counters().received, 6U);
}

TEST_F(RelayTest, PassesForeignAndBrokenFramesWhenTold) {
  std::vector<uint8_t> ipv6(60);
  ipv6[12] = 0x86;
  ipv6[13] = 0xdd;
  std::vector<uint8_t> cut = our_frame(1, 1, 2);
  cut.resize(50);
  in_.arriving = {ipv6, cut};
  config_.pass_malformed = true;
  RelayDirection relay(config_, in_, out_);
  run(relay);
  EXPECT_EQ(out_.sent, (std::vector<std::vector<uint8_t>>{ipv6, cut}));
  EXPECT_EQ(relay.counters().passed, 2U);
}

TEST_F(RelayTest, TextThatBeginsLikeOursIsForeign) {
  const std::string text = "Text";
  std::vector<uint8_t> frame(kUdpPayloadOffset + text.size());
  std::copy(text.begin(), text.end(), frame.begin() + kUdpPayloadOffset);
  write_udp_headers({.source = {0x0a000001, 7471}, .destination = {0x0a000002, 53}}, text.size(), frame);
  in_.arriving.push_back(frame);
  RelayDirection relay(config_, in_, out_);
  run(relay);
  EXPECT_EQ(out_.sent, std::vector<std::vector<uint8_t>>{frame});
  EXPECT_EQ(relay.counters().passed, 1U);
}

TEST_F(RelayTest, AFullQueueMakesTheInputWait) {
  config_.queue = 64;
  for (uint64_t number = 1; number <= 500; ++number) in_.arriving.push_back(our_frame(1, 1, number));
  RelayDirection relay(config_, in_, out_);
  run(relay);
  EXPECT_EQ(out_.sent.size(), 500U);
  EXPECT_GT(relay.counters().full, 0U);
}

TEST_F(RelayTest, ARefusedFrameIsOfferedAgain) {
  out_.room = 3;
  for (uint64_t number = 1; number <= 10; ++number) in_.arriving.push_back(our_frame(1, 1, number));
  RelayDirection relay({.queue = 64}, in_, out_);
  for (int i = 0; i < 10; ++i) relay.poll_once(kNow);
  EXPECT_EQ(out_.sent.size(), 3U);
  EXPECT_FALSE(relay.empty());
  out_.room = SIZE_MAX;
  run(relay);
  EXPECT_EQ(out_.sent.size(), 10U);
}

}  // namespace
}  // namespace tictac
