#include "dataplane/base/address.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace tictac {
namespace {

absl::Status not_a(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not ", what));
}

bool parse_decimal(absl::string_view text, uint32_t limit, uint32_t* out) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == absl::string_view::npos && absl::SimpleAtoi(text, out) &&
         *out <= limit;
}

}  // namespace

absl::StatusOr<Ipv4> parse_ipv4(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  Ipv4 ip = 0;
  uint32_t octet = 0;
  bool good = parts.size() == 4;
  for (size_t i = 0; good && i < parts.size(); ++i) {
    good = parse_decimal(parts[i], 255, &octet);
    ip = ip << 8 | octet;
  }
  if (!good) return not_a(text, "an IPv4 address like 10.0.0.1");
  return ip;
}

absl::StatusOr<Address> parse_address(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  uint32_t port = 0;
  if (parts.size() == 2 && parse_decimal(parts[1], 65535, &port) && port != 0) {
    if (const auto ip = parse_ipv4(parts[0]); ip.ok()) return Address{*ip, static_cast<uint16_t>(port)};
  }
  return not_a(text, "an address like 10.0.0.1:7471");
}

absl::StatusOr<MacAddress> parse_mac(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  MacAddress mac;
  bool good = parts.size() == mac.bytes.size();
  for (size_t i = 0; good && i < parts.size(); ++i) {
    uint32_t byte = 0;
    good = parts[i].size() == 2 && absl::SimpleHexAtoi(parts[i], &byte);
    mac.bytes[i] = static_cast<uint8_t>(byte);
  }
  if (!good) return not_a(text, "an Ethernet address like 02:00:00:00:00:01");
  return mac;
}

std::string format_ipv4(Ipv4 ip) {
  return absl::StrCat(ip >> 24, ".", ip >> 16 & 255, ".", ip >> 8 & 255, ".", ip & 255);
}

std::string format_address(const Address& address) {
  return absl::StrCat(format_ipv4(address.ip), ":", address.port);
}

std::string format_mac(const MacAddress& mac) {
  const auto& b = mac.bytes;
  return absl::StrFormat("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5]);
}

}  // namespace tictac
