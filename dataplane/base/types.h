#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/base/strong_int.h"

namespace tictac {

// Place of a transfer in its job's order, 0..2^31-1; lower is sent first; equal ranks have no order among
// them.
using Rank = StrongInt<struct RankTag, uint32_t>;
inline constexpr uint32_t kMostRank = 0x7fffffff;

// Version of a job's schedule. Ranks of two versions are never compared. 0: no schedule was pushed.
using ScheduleVersion = StrongInt<struct ScheduleVersionTag, uint64_t>;

// A job on this host, dense from 0; jobs have names between hosts and numbers inside one.
using JobId = StrongInt<struct JobIdTag, uint16_t>;

// Another host's sidecar, dense from 0, in the order of the configuration.
using PeerId = StrongInt<struct PeerIdTag, uint16_t>;

// What every part of the system holds and the wire carries: jobs on one host, and bytes in the name of a job
// or of a sidecar.
inline constexpr size_t kMostJobs = 256;
inline constexpr size_t kMostNameBytes = 128;

using ByteSpan = std::span<const uint8_t>;
using MutableByteSpan = std::span<uint8_t>;

}  // namespace tictac
