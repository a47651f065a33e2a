#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tictac {

enum class DpdkLogLevel : uint8_t { kError, kWarning, kInfo, kDebug };

// What DPDK's environment takes from the configuration (Proxy.eal).
struct EalConfig {
  // Ordinary memory instead of huge pages: needs no rights, and is enough for the virtual devices.
  bool no_huge = true;
  // Memory for packets and device rings, MiB. Without huge pages it is taken page by page as it is touched.
  uint32_t memory_mb = 256;
  // Tells DPDK programs of one host apart: letters, digits, '_', '-', '.'. The files lie in
  // /run/dpdk/PREFIX (root) or $XDG_RUNTIME_DIR/dpdk/PREFIX, and a killed process leaves nothing there that
  // stops the next one.
  std::string file_prefix;
  // Cards that DPDK may take, by PCI address; none: it does not even look.
  std::vector<std::string> pci_devices;
  // Where DPDK's log lines go (no newline at the end); any thread. Default: stderr.
  std::function<void(DpdkLogLevel, std::string_view)> log;
  DpdkLogLevel log_level = DpdkLogLevel::kWarning;
};

// DPDK's environment abstraction layer: once per process, before any DpdkPort, and outliving them all. Main
// thread. Threads of DPDK's own (interrupts, vhost) start here and inherit the caller's CPU set. SIGPIPE is
// ignored from here on.
class Eal {
 public:
  // Errors name cause and cure: prefix in use (and by which process), no rights on the runtime folder, not
  // enough memory or huge pages, started before.
  static absl::StatusOr<std::unique_ptr<Eal>> start(const EalConfig& config);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

 private:
  Eal() = default;
};

// The calling thread becomes an lcore: per-thread buffer caches, and `cpu` (if set) as its only CPU. Without
// a CPU it floats, so that several processes can share few cores. Once per thread; ends with the thread.
absl::Status become_lcore(std::optional<uint32_t> cpu);
void leave_lcore();

}  // namespace tictac
