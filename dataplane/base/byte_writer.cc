#include "dataplane/base/byte_writer.h"

#include <bit>
#include <cstring>

namespace tictac {

MutableByteSpan ByteWriter::reserve(size_t n) {
  if (!ok_ || remaining() < n) {
    ok_ = false;
    return {};
  }
  const MutableByteSpan out = buffer_.subspan(size_, n);
  size_ += n;
  return out;
}

void ByteWriter::fixed(uint64_t v, size_t n) {
  const MutableByteSpan out = reserve(n);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(v >> (8 * (n - 1 - i)));
}

void ByteWriter::varint(uint64_t v) {
  if (v > kMaxVarint) {
    ok_ = false;
    return;
  }
  const size_t n = varint_size(v);
  const auto exponent = static_cast<uint64_t>(std::countr_zero(n));
  fixed(v | exponent << (8 * n - 2), n);
}

void ByteWriter::bytes(ByteSpan data) {
  const MutableByteSpan out = reserve(data.size());
  if (!out.empty()) std::memcpy(out.data(), data.data(), data.size());
}

}  // namespace tictac
