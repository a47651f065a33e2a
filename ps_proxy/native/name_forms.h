#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tictac::native {

// Names under which a schedule may know the tensor with this wire name, best first; borrowed from it.
//
//   edge_50_v/conv0/kernel/read  ->  itself, v/conv0/kernel/read, v/conv0/kernel
//
// Only the first "edge_N_" is taken off, and only at the beginning; of the suffixes one of "/read" and
// "/Read/ReadVariableOp" (how a variable is read where the reader has its name). Compared byte by byte: no
// part of a name matches another ("part_1" is not "part_10").
struct NameForms {
  std::array<std::string_view, 3> forms;
  size_t count = 0;
  const std::string_view* begin() const { return forms.data(); }
  const std::string_view* end() const { return forms.data() + count; }
};
NameForms forms_of(std::string_view name);

// Place of a name in the order of policy `auto`: TensorFlow numbers edges in the order in which the model was
// built. Parameters come by ascending number; gradients (named "gradients/...", asked for by parameter
// servers, so among themselves) by descending number: the backward pass is built last layer first.
struct AutoKey {
  bool is_gradient = false;
  uint64_t number = 0;
  friend constexpr bool operator==(const AutoKey&, const AutoKey&) = default;
  friend constexpr bool operator<(const AutoKey& a, const AutoKey& b) {
    if (a.is_gradient != b.is_gradient) return b.is_gradient;
    return a.is_gradient ? a.number > b.number : a.number < b.number;
  }
};
// None when the name does not begin with "edge_N_".
std::optional<AutoKey> auto_key(std::string_view name);

}  // namespace tictac::native
