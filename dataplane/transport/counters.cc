#include "dataplane/transport/counters.h"

namespace tictac {

const char* name_of(DropReason reason) {
  switch (reason) {
    case DropReason::kTruncated:
      return "truncated";
    case DropReason::kBadMagic:
      return "bad_magic";
    case DropReason::kBadChecksum:
      return "bad_checksum";
    case DropReason::kUnknownPeer:
      return "unknown_peer";
    case DropReason::kStaleSession:
      return "stale_session";
    case DropReason::kDuplicate:
      return "duplicate";
    case DropReason::kTooOld:
      return "too_old";
    case DropReason::kMalformedFrame:
      return "malformed_frame";
    case DropReason::kFlowControl:
      return "flow_control";
    case DropReason::kEarlyStream:
      return "early_stream";
    case DropReason::kTooManyStreams:
      return "too_many_streams";
    case DropReason::kCount:
      break;
  }
  return "unknown";
}

}  // namespace tictac
