#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/base/address.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/units.h"
#include "dataplane/port/device.h"

namespace tictac {

// A validated configuration with every default filled in; config.proto says what the fields mean.
struct ProxyConfig {
  struct Peer {
    std::string name;
    Address address;
    std::optional<MacAddress> mac;
  };
  struct Native {
    std::string socket;
    bool socket_is_default = true;
    mode_t socket_mode = 0600;
    uint32_t max_clients = 64;
    uint64_t max_arena = 0;  // bytes
    uint64_t max_total_arena = 0;
    uint32_t max_parked = 65536;
  };
  struct Eal {
    bool no_huge = true;
    uint32_t memory_mb = 256;
    std::string file_prefix;
    std::optional<uint32_t> lcore;
  };
  struct Job {
    std::string name;
    uint32_t weight = 1;
  };
  struct Relay {
    Device a;
    Device b;
    Rate link_rate;
    bool drop_foreign = false;
    bool drop_malformed = true;
    Duration exit_after_idle{0};  // 0: never
  };
  enum class LogLevel : uint8_t { kInfo, kDebug, kWarning, kError };

  std::string name;
  Address address;
  uint8_t prefix_length = 24;
  Ipv4 gateway = 0;
  std::optional<MacAddress> mac;
  std::optional<Device> device;
  Eal eal;
  uint32_t mtu = 1500;
  bool mtu_is_needed = false;  // somebody wrote it down
  std::vector<Peer> peers;
  Rate link_rate{0};
  Native native;
  std::string tictacd;  // empty: off
  std::vector<Job> jobs;
  std::optional<Relay> relay;
  LogLevel log_level = LogLevel::kInfo;
  std::string completion_log;  // empty: none
  uint64_t completion_log_bytes = 0;
};

enum class ConfigUse : uint8_t { kSidecar, kRelay };

// Reads a configuration file and then applies `overrides`, each "path=value" ("link_rate=1Gbit/s",
// "peers.0.address=10.0.0.2:7471"; an index one beyond the end adds an element). An error is one line: the
// file and line (or the override), the field, what is wrong, and what would be right.
absl::StatusOr<ProxyConfig> load_config(const std::string& file, const std::vector<std::string>& overrides,
                                        ConfigUse use);
// The same for text that was read from `file`.
absl::StatusOr<ProxyConfig> parse_config(const std::string& text, const std::string& file,
                                         const std::vector<std::string>& overrides, ConfigUse use);

}  // namespace tictac
