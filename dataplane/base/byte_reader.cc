#include "dataplane/base/byte_reader.h"

namespace tictac {

uint64_t ByteReader::fixed(size_t n) {
  if (bytes_.size() < n) {
    fail();
    return 0;
  }
  uint64_t value = 0;
  for (size_t i = 0; i < n; ++i) value = value << 8 | bytes_[i];
  bytes_ = bytes_.subspan(n);
  return value;
}

uint64_t ByteReader::varint() {
  if (bytes_.empty()) {
    fail();
    return 0;
  }
  const unsigned exponent = bytes_[0] >> 6;
  const uint64_t raw = fixed(size_t{1} << exponent);
  const unsigned value_bits = (8U << exponent) - 2;
  return raw & ((uint64_t{1} << value_bits) - 1);
}

ByteSpan ByteReader::take(size_t n) {
  if (bytes_.size() < n) {
    fail();
    return {};
  }
  const ByteSpan out = bytes_.first(n);
  bytes_ = bytes_.subspan(n);
  return out;
}

}  // namespace tictac
