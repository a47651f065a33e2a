#include "dataplane/base/crc32c.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

namespace tictac {
namespace {

TEST(Crc32c, EqualsTheExamplesOfRfc3720) {
  std::vector<uint8_t> bytes(32, 0x00);
  EXPECT_EQ(crc32c(bytes), 0x8a9136aaU);
  bytes.assign(32, 0xff);
  EXPECT_EQ(crc32c(bytes), 0x62a8ab43U);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  EXPECT_EQ(crc32c(bytes), 0x46dd794eU);
}

TEST(Crc32c, ContinuesOverPieces) {
  const std::array<uint8_t, 9> digits = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  const ByteSpan all = digits;
  EXPECT_EQ(crc32c(all), 0xe3069283U);
  EXPECT_EQ(crc32c(all.subspan(4), crc32c(all.first(4))), 0xe3069283U);
  EXPECT_EQ(crc32c({}), 0U);
}

}  // namespace
}  // namespace tictac
