#include "dataplane/base/crc32c.h"

#include <algorithm>

#include <isa-l/crc.h>

namespace tictac {

uint32_t crc32c(ByteSpan bytes, uint32_t crc) {
  constexpr size_t kMaxChunk = 1U << 30;  // ISA-L counts in int
  uint32_t state = ~crc;
  while (!bytes.empty()) {
    const size_t n = std::min(bytes.size(), kMaxChunk);
    // ISA-L takes a pointer to non-const and does not write through it.
    state = crc32_iscsi(const_cast<uint8_t*>(bytes.data()), static_cast<int>(n), state);
    bytes = bytes.subspan(n);
  }
  return ~state;
}

}  // namespace tictac
