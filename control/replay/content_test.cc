#include "control/replay/content.h"

#include <gtest/gtest.h>

#include <vector>

namespace tictac::replay {
namespace {

TEST(Content, IsRightWhereItWasFilled) {
  for (const size_t size : {0, 1, 7, 8, 9, 4095, 4096, 4097, 100'003}) {
    std::vector<uint8_t> bytes(size + 1, 0xee);
    fill(content_seed("w", 3), bytes.data(), size);
    EXPECT_EQ(first_wrong(content_seed("w", 3), bytes.data(), size), size);
    EXPECT_EQ(bytes[size], 0xee) << "wrote behind the end";
  }
}

TEST(Content, EveryFlippedByteShows) {
  std::vector<uint8_t> bytes(9001);
  const uint64_t seed = content_seed("w", 3);
  fill(seed, bytes.data(), bytes.size());
  for (size_t i = 0; i < bytes.size(); i += 13) {
    bytes[i] ^= 0x10;
    EXPECT_EQ(first_wrong(seed, bytes.data(), bytes.size()), i);
    bytes[i] ^= 0x10;
  }
}

TEST(Content, OtherNamesStepsAndPlacesDiffer) {
  std::vector<uint8_t> bytes(64);
  fill(content_seed("w", 3), bytes.data(), bytes.size());
  EXPECT_LT(first_wrong(content_seed("w", 4), bytes.data(), bytes.size()), 8U);
  EXPECT_LT(first_wrong(content_seed("v", 3), bytes.data(), bytes.size()), 8U);
  EXPECT_LT(first_wrong(content_seed("w", 3), bytes.data() + 8, bytes.size() - 8), 8U);
}

}  // namespace
}  // namespace tictac::replay
