#include "dataplane/base/tensor_name.h"

#include <charconv>

namespace tictac {

TensorName parse_tensor_name(std::string_view wire_name) {
  constexpr std::string_view kPrefix = "edge_";
  constexpr std::string_view kSuffix = "/read";
  TensorName name{.edge = std::nullopt, .canonical = wire_name};
  if (wire_name.starts_with(kPrefix)) {
    uint64_t number = 0;
    const char* const end = wire_name.data() + wire_name.size();
    const auto [after, error] = std::from_chars(wire_name.data() + kPrefix.size(), end, number);
    if (error == std::errc() && after < end && *after == '_') {
      name.edge = number;
      name.canonical = wire_name.substr(static_cast<size_t>(after - wire_name.data()) + 1);
    }
  }
  if (name.canonical.size() > kSuffix.size() && name.canonical.ends_with(kSuffix)) {
    name.canonical.remove_suffix(kSuffix.size());
  }
  return name;
}

}  // namespace tictac
