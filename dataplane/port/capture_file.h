#pragma once

#include <string>

#include "absl/status/status.h"

namespace tictac {

// Reads a capture to its end as net_pcap will (libpcap: pcap and pcapng), because net_pcap takes a broken
// record for the end of the file and says nothing. An error names the file and what is wrong with it: not a
// capture, not of Ethernet frames, or which frame cannot be read. What is no regular file (a FIFO) is only
// tested for leave to read. Any thread.
absl::Status check_capture(const std::string& path);

// Whether a capture can be written there. Writes nothing.
absl::Status check_capture_target(const std::string& path);

}  // namespace tictac
