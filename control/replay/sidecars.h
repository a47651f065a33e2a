#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "control/replay/process.h"
#include "dataplane/base/units.h"

namespace tictac::replay {

// tictacd and two sidecars over a virtio-user/vhost cable on this host, in a folder of their own.
class Sidecars {
 public:
  struct Options {
    Rate link_rate{0};
    uint32_t mtu = 9000;
    uint64_t arena_bytes = 0;  // that all applications of one side need
    std::string folder;
  };

  // Starts all three and waits until they listen. Errors hold the last line of the one that failed.
  static absl::StatusOr<Sidecars> start(const Options& options);

  // OK while all three run; OK while the two sidecars run (they go on without the daemon).
  absl::Status running();
  absl::Status proxies_running();
  static std::string daemon_socket(const std::string& folder) { return folder + "/tictacd.sock"; }
  static std::string native_socket(const std::string& folder, const std::string& side) {
    return folder + "/" + side + ".sock";
  }
  const std::vector<Process>& processes() const { return processes_; }

 private:
  std::vector<Process> processes_;
};

// Payload bytes of a tensor in a full frame over the frame's bytes, as transport/README.md lays packets out.
double payload_share(uint32_t mtu);

}  // namespace tictac::replay
