#pragma once

#include <cstdint>

#include "dataplane/base/types.h"

namespace tictac {

// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `bytes`, continuing from `crc`, the value of the bytes
// before it (0 at the start). The fastest way for this CPU is chosen at run time by ISA-L.
uint32_t crc32c(ByteSpan bytes, uint32_t crc = 0);

}  // namespace tictac
