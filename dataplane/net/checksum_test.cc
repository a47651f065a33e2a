#include "dataplane/net/checksum.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace tictac {
namespace {

// The definition, word by word.
uint16_t slow_checksum(ByteSpan bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    sum += static_cast<uint32_t>(bytes[i] << 8 | (i + 1 < bytes.size() ? bytes[i + 1] : 0));
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return static_cast<uint16_t>(~sum);
}

TEST(InternetSum, ExampleOfRfc1071) {
  const std::vector<uint8_t> bytes = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  InternetSum sum;
  sum.add(bytes);
  EXPECT_EQ(sum.checksum(), static_cast<uint16_t>(~0xddf2));
}

TEST(InternetSum, EqualsTheDefinitionForEveryLengthAndAlignment) {
  std::mt19937 random(7);
  std::vector<uint8_t> bytes(9100);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
  for (size_t size = 0; size < 200; ++size) {
    const ByteSpan part = ByteSpan(bytes).subspan(size % 17, size);
    InternetSum sum;
    sum.add(part);
    EXPECT_EQ(sum.checksum(), slow_checksum(part)) << size;
  }
  InternetSum whole;
  whole.add(bytes);
  EXPECT_EQ(whole.checksum(), slow_checksum(bytes));
}

TEST(InternetSum, CarriesOfAllOnesAreNotLost) {
  const std::vector<uint8_t> ones(65535, 0xff);
  InternetSum sum;
  sum.add(ones);
  EXPECT_EQ(sum.checksum(), slow_checksum(ones));
}

TEST(InternetSum, PartsGiveTheSumOfTheWhole) {
  std::vector<uint8_t> bytes(101);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37);
  InternetSum parts;
  parts.add(ByteSpan(bytes).first(34));
  parts.add_u16(static_cast<uint16_t>(bytes[34] << 8 | bytes[35]));
  parts.add(ByteSpan(bytes).subspan(36));
  EXPECT_EQ(parts.checksum(), slow_checksum(bytes));
}

TEST(UdpChecksum, RightFieldVerifiesAndEveryFlippedBitIsSeen) {
  std::vector<uint8_t> datagram = {0x1d, 0x2f, 0x1d, 0x2f, 0x00, 0x0c, 0, 0, 'a', 'b', 'c', 'd'};
  const Ipv4 from = 0x0a000001;
  const Ipv4 to = 0x0a000002;
  const uint16_t checksum = udp_checksum(from, to, datagram);
  datagram[6] = static_cast<uint8_t>(checksum >> 8);
  datagram[7] = static_cast<uint8_t>(checksum);
  EXPECT_EQ(udp_checksum(from, to, datagram), 0xffff);
  EXPECT_NE(udp_checksum(from + 1, to, datagram), 0xffff);
  for (size_t bit = 0; bit < datagram.size() * 8; ++bit) {
    datagram[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_NE(udp_checksum(from, to, datagram), 0xffff) << bit;
    datagram[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
}

TEST(UdpChecksum, ZeroIsSentAsAllOnes) {
  // Chosen so that the sum is all ones: 0 would mean "no checksum".
  std::vector<uint8_t> datagram = {0, 0, 0, 0, 0, 8, 0, 0};
  const uint16_t rest = static_cast<uint16_t>(0xffff - 17 - 8 - 8);
  datagram[0] = static_cast<uint8_t>(rest >> 8);
  datagram[1] = static_cast<uint8_t>(rest);
  EXPECT_EQ(udp_checksum(0, 0, datagram), 0xffff);
}

}  // namespace
}  // namespace tictac
