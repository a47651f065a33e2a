// Any bytes as gzip data, with a limit that small inputs can exceed.
#include <cstdint>
#include <string>

#include "control/graph/file_content.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kMost = 1 << 20;
  const auto content = tictac::gunzip(std::string(reinterpret_cast<const char*>(data), size), kMost);
  if (content.ok() && content->size() > kMost) __builtin_trap();
  return 0;
}
