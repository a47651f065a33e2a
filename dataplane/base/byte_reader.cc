#include "dataplane/base/byte_reader.h"

#include "dataplane/base/byte_writer.h"

namespace tictac {

uint64_t ByteReader::varint() {
  if (bytes_.empty()) {
    fail();
    return 0;
  }
  switch (bytes_[0] >> 6) {
    case 0:
      return fixed<1>();
    case 1:
      return fixed<2>() & 0x3fff;
    case 2:
      return fixed<4>() & 0x3fffffff;
    default:
      return fixed<8>() & kMaxVarint;
  }
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
