#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tictac {

// A tensor's name on the wire, as TensorFlow makes it: `edge_NNN_NAME` or `edge_NNN_NAME/read`. Views borrow
// the text.
struct TensorName {
  std::optional<uint64_t> edge;  // NNN; none when there is no such prefix (or NNN exceeds 64 bits)
  std::string_view canonical;    // NAME: without the first `edge_NNN_` and without a last `/read`
};

// Takes off one prefix and one suffix only: a variable may itself be called `edge_5_x`. Bytes are not
// interpreted.
TensorName parse_tensor_name(std::string_view wire_name);

}  // namespace tictac
