#pragma once

#include <compare>
#include <utility>

namespace tictac {

// An integer that does not mix with other integers: two StrongInts with different tags neither convert nor
// compare. `value()` is the only way out. No arithmetic.
template <typename Tag, typename Rep>
class StrongInt {
 public:
  using rep = Rep;
  constexpr StrongInt() = default;
  constexpr explicit StrongInt(Rep value) : value_(value) {}
  constexpr Rep value() const { return value_; }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 in a defaulted comparison for a pointer
  friend constexpr auto operator<=>(StrongInt, StrongInt) = default;

  template <typename H>
  friend H AbslHashValue(H h, StrongInt i) {
    return H::combine(std::move(h), i.value_);
  }

 private:
  Rep value_ = 0;
};

}  // namespace tictac
