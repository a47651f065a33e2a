#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/base/types.h"

namespace tictac {

// What a schedule and a daemon may hold; anything larger is refused by name. Jobs, their names and ranks:
// dataplane/base/types.h.
inline constexpr size_t kMostTensorName = 4096;
inline constexpr size_t kMostEntries = 2'000'000;
inline constexpr int kMostMessageBytes = 256 << 20;
inline constexpr size_t kMostProxies = 4096;
inline constexpr size_t kMostVersionsKept = 64;  // of a job, in the store

// Of a version that a proxy tells; far above what pushes reach, far below overflow.
inline constexpr uint64_t kMostVersion = uint64_t{1} << 48U;

}  // namespace tictac
