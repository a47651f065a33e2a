#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/base/types.h"

namespace tictac {

// Bounds-checked reading of network-order fields. A read past the end returns zero (or an empty span) and
// makes the reader fail for good, so a parser may read all its fields and ask ok() once. Borrows the bytes.
class ByteReader {
 public:
  explicit ByteReader(ByteSpan bytes) : bytes_(bytes) {}

  uint8_t u8() { return static_cast<uint8_t>(fixed<1>()); }
  uint16_t u16() { return static_cast<uint16_t>(fixed<2>()); }
  uint32_t u32() { return static_cast<uint32_t>(fixed<4>()); }
  uint64_t u64() { return fixed<8>(); }

  // Variable-length integer of RFC 9000, section 16: 1, 2, 4 or 8 bytes, up to 2^62-1.
  uint64_t varint();

  // The next `n` bytes, or an empty span and failure when there are fewer.
  ByteSpan take(size_t n);

  ByteSpan rest() const { return bytes_; }
  size_t remaining() const { return bytes_.size(); }
  bool ok() const { return ok_; }

 private:
  // N is a constant so that the loop becomes one load and a byte swap.
  template <size_t N>
  uint64_t fixed() {
    if (bytes_.size() < N) {
      fail();
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < N; ++i) value = value << 8 | bytes_[i];
    bytes_ = bytes_.subspan(N);
    return value;
  }
  void fail() {
    ok_ = false;
    bytes_ = {};
  }

  ByteSpan bytes_;
  bool ok_ = true;
};

}  // namespace tictac
