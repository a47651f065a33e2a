#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/base/types.h"

namespace tictac::integration {

// Content of test transfers: byte `offset` of transfer `seed` is a byte of a fixed random table, so that
// making and checking it costs little more than a copy.
class Pattern {
 public:
  Pattern();
  void fill(uint64_t seed, uint64_t offset, MutableByteSpan out) const;
  bool equals(uint64_t seed, uint64_t offset, ByteSpan bytes) const;

 private:
  static constexpr size_t kPeriod = 65521;  // prime: no power-of-two shift goes unnoticed
  static constexpr size_t kLongest = 16384;
  static size_t place(uint64_t seed, uint64_t offset) { return (seed * 7919 + offset) % kPeriod; }
  std::array<uint8_t, kPeriod + kLongest> table_;
};

}  // namespace tictac::integration
