#include "ps_proxy/native/transfers.h"

#include <cstring>

namespace tictac::native {

// The endpoint keeps to limit(), and the capacity was checked against the arena when the fetch began.
void Fetch::write(uint64_t offset, ByteSpan bytes) {
  if (!bytes.empty()) std::memcpy(buffer + offset, bytes.data(), bytes.size());
}

void Request::read(uint64_t offset, MutableByteSpan out) {
  if (!out.empty()) std::memcpy(out.data(), buffer + offset, out.size());
}

}  // namespace tictac::native
