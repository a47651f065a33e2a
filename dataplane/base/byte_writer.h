#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/base/types.h"

namespace tictac {

// Largest value of a varint: 2^62-1.
inline constexpr uint64_t kMaxVarint = (uint64_t{1} << 62) - 1;

// Bytes that `value` (<= kMaxVarint) takes as a varint.
constexpr size_t varint_size(uint64_t value) {
  if (value < (1U << 6)) return 1;
  if (value < (1U << 14)) return 2;
  return value < (1U << 30) ? 4 : 8;
}

// Bounds-checked writing of network-order fields; the mirror of ByteReader. A write that does not fit writes
// nothing and makes the writer fail for good. Borrows the buffer.
class ByteWriter {
 public:
  explicit ByteWriter(MutableByteSpan buffer) : buffer_(buffer) {}

  void u8(uint8_t v) { fixed(v, 1); }
  void u16(uint16_t v) { fixed(v, 2); }
  void u32(uint32_t v) { fixed(v, 4); }
  void u64(uint64_t v) { fixed(v, 8); }
  void varint(uint64_t v);
  void bytes(ByteSpan data);

  // Room for `n` bytes that the caller fills, or an empty span and failure.
  MutableByteSpan reserve(size_t n);

  ByteSpan written() const { return buffer_.first(size_); }
  size_t size() const { return size_; }
  size_t remaining() const { return buffer_.size() - size_; }
  bool ok() const { return ok_; }

 private:
  void fixed(uint64_t v, size_t n);

  MutableByteSpan buffer_;
  size_t size_ = 0;
  bool ok_ = true;
};

}  // namespace tictac
