#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/base/clock.h"
#include "dataplane/base/units.h"

namespace tictac {

// Why a datagram, or a part of it, was thrown away.
enum class DropReason : uint8_t {
  kTruncated,
  kBadMagic,  // not our protocol or version
  kBadChecksum,
  kUnknownPeer,   // address or name that is not configured
  kStaleSession,  // session or incarnation that has gone
  kDuplicate,
  kTooOld,  // packet number below the window of remembered ones
  kMalformedFrame,
  kFlowControl,  // the peer exceeded a limit
  kEarlyStream,  // bytes of a stream whose OPEN has not arrived yet
  kTooManyStreams,
  kCount
};
const char* name_of(DropReason reason);

// What an endpoint did. Written by the lcore only; others get copies through the mailbox.
struct TransportCounters {
  uint64_t packets_sent = 0;
  uint64_t packets_received = 0;
  uint64_t bytes_sent = 0;  // UDP payload
  uint64_t bytes_received = 0;
  uint64_t stream_bytes_sent = 0;      // tensor and request bytes, first time
  uint64_t stream_bytes_received = 0;  // new ones
  uint64_t retransmitted_packets = 0;  // packets that carry lost bytes again
  uint64_t retransmitted_bytes = 0;
  uint64_t spurious_losses = 0;  // declared lost, acknowledged later
  uint64_t late_packets = 0;     // worse transfer while a better, long accepted one waits
  uint64_t streams_opened = 0;
  uint64_t streams_accepted = 0;
  std::array<uint64_t, static_cast<size_t>(DropReason::kCount)> drops{};
};

struct SessionStats {
  bool up = false;
  uint64_t peer_incarnation = 0;
  Duration smoothed_rtt{0};
  Duration min_rtt{0};
  uint64_t bytes_in_flight = 0;
  uint64_t congestion_window = 0;
  Rate pacing_rate{0};
  uint32_t open_streams = 0;
};

}  // namespace tictac
