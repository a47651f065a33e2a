#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace tictac {

// An integer that does not mix with other integers: two StrongInts with different tags neither convert nor
// compare. `value()` is the only way out. No arithmetic: a type that needs it (Bytes) says so itself.
template <typename Tag, typename Rep>
class StrongInt {
 public:
  using rep = Rep;
  constexpr StrongInt() = default;
  constexpr explicit StrongInt(Rep value) : value_(value) {}
  constexpr Rep value() const { return value_; }
  static constexpr StrongInt max() { return StrongInt(std::numeric_limits<Rep>::max()); }
  friend constexpr auto operator<=>(StrongInt, StrongInt) = default;

  template <typename H>
  friend H AbslHashValue(H h, StrongInt i) {
    return H::combine(std::move(h), i.value_);
  }

 private:
  Rep value_ = 0;
};

}  // namespace tictac

template <typename Tag, typename Rep>
struct std::hash<tictac::StrongInt<Tag, Rep>> {
  size_t operator()(tictac::StrongInt<Tag, Rep> i) const noexcept { return std::hash<Rep>()(i.value()); }
};
