#include "tests/integration/node/pattern.h"

#include <cstring>
#include <random>

namespace tictac::integration {

Pattern::Pattern() {
  std::mt19937 random(1803);
  for (size_t i = 0; i < table_.size(); ++i) {
    table_[i] = i < kPeriod ? static_cast<uint8_t>(random()) : table_[i - kPeriod];
  }
}

void Pattern::fill(uint64_t seed, uint64_t offset, MutableByteSpan out) const {
  std::memcpy(out.data(), table_.data() + place(seed, offset), out.size());
}

bool Pattern::equals(uint64_t seed, uint64_t offset, ByteSpan bytes) const {
  return bytes.size() <= kLongest &&
         std::memcmp(bytes.data(), table_.data() + place(seed, offset), bytes.size()) == 0;
}

}  // namespace tictac::integration
