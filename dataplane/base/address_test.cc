#include "dataplane/base/address.h"

#include <gtest/gtest.h>

namespace tictac {
namespace {

TEST(Address, RoundTrips) {
  EXPECT_EQ(*parse_ipv4("10.0.255.1"), 0x0a00ff01U);
  EXPECT_EQ(format_ipv4(0x0a00ff01U), "10.0.255.1");
  EXPECT_EQ(*parse_address("10.0.0.1:7471"), (Address{0x0a000001U, 7471}));
  EXPECT_EQ(format_address({0x0a000001U, 7471}), "10.0.0.1:7471");
  EXPECT_EQ(format_mac(*parse_mac("02:00:00:00:0a:FF")), "02:00:00:00:0a:ff");
}

TEST(Address, RefusesWhatIsNone) {
  for (const char* bad : {"", "10.0.0", "10.0.0.256", "10.0.0.1.2", "10.0.0.x", "10.0.0.-1", "1 0.0.0.1"}) {
    EXPECT_FALSE(parse_ipv4(bad).ok()) << bad;
  }
  for (const char* bad : {"10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", ":7471", "host:7471"}) {
    EXPECT_FALSE(parse_address(bad).ok()) << bad;
  }
  for (const char* bad : {"", "02:00:00:00:00", "02:00:00:00:00:0g", "2:0:0:0:0:1", "02:00:00:00:00:01:02"}) {
    EXPECT_FALSE(parse_mac(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace tictac
