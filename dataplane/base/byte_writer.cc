#include "dataplane/base/byte_writer.h"

#include <cstring>

namespace tictac {

void ByteWriter::varint(uint64_t v) {
  switch (v > kMaxVarint ? 0 : varint_size(v)) {
    case 1:
      return fixed<1>(v);
    case 2:
      return fixed<2>(v | uint64_t{1} << 14);
    case 4:
      return fixed<4>(v | uint64_t{2} << 30);
    case 8:
      return fixed<8>(v | uint64_t{3} << 62);
    default:
      ok_ = false;
  }
}

void ByteWriter::bytes(ByteSpan data) {
  const MutableByteSpan out = reserve(data.size());
  if (!out.empty()) std::memcpy(out.data(), data.data(), data.size());
}

}  // namespace tictac
