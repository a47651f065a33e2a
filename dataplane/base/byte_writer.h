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

  void u8(uint8_t v) { fixed<1>(v); }
  void u16(uint16_t v) { fixed<2>(v); }
  void u32(uint32_t v) { fixed<4>(v); }
  void u64(uint64_t v) { fixed<8>(v); }
  void varint(uint64_t v);
  void bytes(ByteSpan data);

  // Room for `n` bytes that the caller fills, or an empty span and failure.
  MutableByteSpan reserve(size_t n) {
    if (!ok_ || remaining() < n) {
      ok_ = false;
      return {};
    }
    const MutableByteSpan out = buffer_.subspan(size_, n);
    size_ += n;
    return out;
  }

  ByteSpan written() const { return buffer_.first(size_); }
  size_t size() const { return size_; }
  size_t remaining() const { return buffer_.size() - size_; }
  bool ok() const { return ok_; }

 private:
  // N is a constant so that the loop becomes a byte swap and one store.
  template <size_t N>
  void fixed(uint64_t v) {
    const MutableByteSpan out = reserve(N);
    if (out.empty()) return;
    for (size_t i = 0; i < N; ++i) out[i] = static_cast<uint8_t>(v >> (8 * (N - 1 - i)));
  }

  MutableByteSpan buffer_;
  size_t size_ = 0;
  bool ok_ = true;
};

}  // namespace tictac
