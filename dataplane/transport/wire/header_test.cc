#include "dataplane/transport/wire/header.h"

#include <gtest/gtest.h>

#include <vector>

namespace tictac::wire {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr Header kExample{.flags = kRetransmission | kAckEliciting,
                          .transfer_class = TransferClass::kRanked,
                          .session = 0x01020304,
                          .rank = 5,
                          .number = 0x1112131415161718,
                          .stream = 0x21222324,
                          .send_time_us = 0x31323334};

Bytes sealed(const Header& header, const Bytes& body) {
  Bytes datagram(kHeaderSize + body.size());
  std::copy(body.begin(), body.end(), datagram.begin() + kHeaderSize);
  seal(datagram, header);
  return datagram;
}

TEST(Header, GoldenBytes) {
  Bytes datagram = sealed(kExample, {1});
  for (size_t i = 4; i < 8; ++i) datagram[i] = 0;
  EXPECT_EQ(datagram, Bytes({0x54, 1,    24,   1,    0,    0,    0,    0,    1,    2,    3,
                             4,    0,    0,    0,    5,    0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
                             0x17, 0x18, 0x21, 0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34, 1}));
}

TEST(Header, ReadsWhatItWrites) {
  const Bytes datagram = sealed(kExample, {1, 2, 3});
  Header header;
  ASSERT_EQ(parse_header(datagram, &header), HeaderResult::kOk);
  EXPECT_TRUE(checksum_matches(datagram));
  EXPECT_EQ(header.flags, kExample.flags);
  EXPECT_EQ(header.transfer_class, kExample.transfer_class);
  EXPECT_EQ(header.session, kExample.session);
  EXPECT_EQ(header.rank, kExample.rank);
  EXPECT_EQ(header.number, kExample.number);
  EXPECT_EQ(header.stream, kExample.stream);
  EXPECT_EQ(header.send_time_us, kExample.send_time_us);
}

TEST(Header, EveryFlippedBitIsSeen) {
  const Bytes good = sealed(kExample, {1, 2, 3, 0xff});
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
    EXPECT_FALSE(checksum_matches(bad)) << "bit " << bit;
  }
}

TEST(Header, CutAndForeignDatagrams) {
  const Bytes good = sealed(kExample, {});
  Header header;
  for (size_t size = 0; size < kHeaderSize; ++size) {
    EXPECT_EQ(parse_header(ByteSpan(good).first(size), &header), HeaderResult::kTruncated);
  }
  const auto with = [&](size_t at, uint8_t value) {
    Bytes bytes = good;
    bytes[at] = value;
    return parse_header(bytes, &header);
  };
  EXPECT_EQ(with(0, 0x55), HeaderResult::kNotOurs);
  EXPECT_EQ(with(1, 2), HeaderResult::kNotOurs);
  EXPECT_EQ(with(2, kKeyPhase), HeaderResult::kNotOurs) << "reserved";
  EXPECT_EQ(with(2, kTagged), HeaderResult::kNotOurs) << "reserved";
  EXPECT_EQ(with(2, 0x80), HeaderResult::kNotOurs);
  EXPECT_EQ(with(3, 3), HeaderResult::kNotOurs) << "no such class";
}

}  // namespace
}  // namespace tictac::wire
