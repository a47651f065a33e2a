#include "dataplane/base/units.h"

#include <gtest/gtest.h>

namespace tictac {
namespace {

TEST(Units, TransferTimeRoundsDownIn128Bits) {
  EXPECT_EQ(transfer_time(1, Rate(3)), Duration(2'666'666'666));
  EXPECT_EQ(transfer_time(0, Rate(1)), 0ns);
  EXPECT_EQ(transfer_time(125'000'000, Rate(1'000'000'000)), 1s);
  EXPECT_EQ(transfer_time(1ULL << 40, Rate(40'000'000'000)), Duration(219'902'325'555));
  EXPECT_EQ(transfer_time(UINT64_MAX, Rate(1)), Duration::max());
}

TEST(Units, ParsesEveryUnit) {
  EXPECT_EQ(*parse_rate("1Gbit/s"), Rate(1'000'000'000));
  EXPECT_EQ(*parse_rate("2.5Gbit/s"), Rate(2'500'000'000));
  EXPECT_EQ(*parse_rate("500Mbit/s"), Rate(500'000'000));
  EXPECT_EQ(*parse_rate("9600bit/s"), Rate(9600));
  EXPECT_EQ(*parse_rate("64kbit/s"), Rate(64'000));
  EXPECT_EQ(*parse_rate("123456"), Rate(123'456));
}

TEST(Units, RefusesWhatIsNoRateAndNamesIt) {
  for (const char* bad : {"", "0", "-1Gbit/s", "1 Gbit/s", "1GB", "Gbit/s", "1e9", "nan", "inf", "0.5bit/s",
                          "1.2.3Mbit/s", "99999999999Tbit/s"}) {
    const auto rate = parse_rate(bad);
    ASSERT_FALSE(rate.ok()) << bad;
    EXPECT_NE(rate.status().message().find(bad), absl::string_view::npos);
  }
}

TEST(Units, FormatsForPeople) {
  EXPECT_EQ(format_rate(Rate(1'000'000'000)), "1Gbit/s");
  EXPECT_EQ(format_rate(Rate(3'103'870'000)), "3.104Gbit/s");
  EXPECT_EQ(format_bytes(26'470'000), "26.47 MB");
  EXPECT_EQ(format_bytes(812), "812 B");
  EXPECT_EQ(format_duration(68'210us), "68.21 ms");
  EXPECT_EQ(format_duration(-1500ns), "-1.5 us");
  EXPECT_EQ(format_duration(7ns), "7 ns");
}

}  // namespace
}  // namespace tictac
