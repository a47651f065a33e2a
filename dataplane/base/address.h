#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tictac {

// IPv4 address in host order.
using Ipv4 = uint32_t;

// Where a sidecar's datagrams go: an IPv4 address and a UDP port, both in host order.
struct Address {
  Ipv4 ip = 0;
  uint16_t port = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): as in strong_int.h
  friend constexpr auto operator<=>(const Address&, const Address&) = default;

  template <typename H>
  friend H AbslHashValue(H h, const Address& a) {
    return H::combine(std::move(h), a.ip, a.port);
  }
};

// Ethernet address.
struct MacAddress {
  std::array<uint8_t, 6> bytes{};
  // NOLINTNEXTLINE(modernize-use-nullptr): as in strong_int.h
  friend constexpr auto operator<=>(const MacAddress&, const MacAddress&) = default;
};
inline constexpr MacAddress kBroadcastMac = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

// "10.0.0.1", "10.0.0.1:7471", "02:00:00:00:00:01"; errors name the text and the form wanted.
absl::StatusOr<Ipv4> parse_ipv4(absl::string_view text);
absl::StatusOr<Address> parse_address(absl::string_view text);
absl::StatusOr<MacAddress> parse_mac(absl::string_view text);
std::string format_ipv4(Ipv4 ip);
std::string format_address(const Address& address);
std::string format_mac(const MacAddress& mac);

}  // namespace tictac
