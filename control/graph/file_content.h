#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace tictac {

// Most bytes of a graph or trace after decompression; a larger one is refused, a gzip bomb included.
inline constexpr uint64_t kMostContent = uint64_t{1} << 30;

// The whole content of a regular file, decompressed when it is gzip (by its first bytes; several members are
// one content). Never blocks on a FIFO or a device. Errors name the path and the cure.
absl::StatusOr<std::string> read_content(const std::string& path, uint64_t most = kMostContent);

// Decompresses gzip data held in memory.
absl::StatusOr<std::string> gunzip(const std::string& compressed, uint64_t most);

}  // namespace tictac
