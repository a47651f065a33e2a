#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "control/schedule/socket_owner.h"
#include "dataplane/base/types.h"
#include "ps_proxy/config/config_text.h"
#include "ps_proxy/config/proxy_config.h"

namespace tictac {
namespace {

constexpr size_t kMostPeers = 1024;

// Fills a ProxyConfig from the parsed text; the first thing that is wrong is kept as the error.
class Validator {
 public:
  Validator(const ConfigText& text, ConfigUse use) : text_(text), in_(text.proxy()), use_(use) {}

  absl::StatusOr<ProxyConfig> run() {
    if (use_ == ConfigUse::kRelay) {
      relay();
    } else {
      check(!in_.has_relay(), "relay", "is for --relay only: give that option too, or leave this out");
      identity();
      peers();
      native();
      jobs();
    }
    eal();
    log();
    if (!error_.ok()) return error_;
    return out_;
  }

 private:
  void fail(std::string_view path, std::string_view what) {
    if (error_.ok()) error_ = text_.error(path, what);
  }
  void check(bool ok, std::string_view path, std::string_view what) {
    if (!ok) fail(path, what);
  }
  // A number that may be left out.
  uint32_t number(uint32_t value, uint32_t least, uint32_t most, uint32_t otherwise, std::string_view path) {
    if (value == 0) return otherwise;
    check(value >= least && value <= most, path, absl::StrCat(value, " is outside of ", least, " to ", most));
    return value;
  }
  template <typename T>
  T parsed(absl::StatusOr<T> value, std::string_view path) {
    if (value.ok()) return *std::move(value);
    fail(path, std::string(value.status().message()));
    return T{};
  }
  void name(const std::string& value, std::string_view path) {
    check(!value.empty(), path, "is needed");
    check(value.size() <= kMostNameBytes, path, absl::StrCat("is longer than ", kMostNameBytes, " bytes"));
  }
  void needed_path(const std::string& value, std::string_view path) {
    check(!value.empty(), path, "is needed");
    check(value.size() <= kMostSocketPath, path,
          absl::StrCat("is longer than a socket's path may be (", kMostSocketPath, " bytes)"));
  }

  void identity();
  Device device(const config::Device& in, const std::string& path);
  void peers();
  void native();
  void jobs();
  void captures_differ(const config::Pcap& a, const config::Pcap& b);
  void relay();
  void eal();
  void log();

  const ConfigText& text_;
  const config::Proxy& in_;
  const ConfigUse use_;
  ProxyConfig out_;
  absl::Status error_;
};

void Validator::identity() {
  name(in_.name(), "name");
  out_.name = in_.name();
  check(!in_.address().empty(), "address", "is needed, as \"10.77.0.1:7471\"");
  out_.address = parsed(parse_address(in_.address()), "address");
  out_.prefix_length = static_cast<uint8_t>(number(in_.prefix_length(), 8, 32, 24, "prefix_length"));
  if (!in_.gateway().empty()) out_.gateway = parsed(parse_ipv4(in_.gateway()), "gateway");
  if (!in_.mac().empty()) out_.mac = parsed(parse_mac(in_.mac()), "mac");
  check(!out_.mac || (out_.mac->bytes[0] & 1) == 0, "mac", "is a group address; its first byte must be even");
  check(in_.has_device(), "device", "is needed, for example device { vhost { path: \"/tmp/cable\" } }");
  if (in_.has_device()) out_.device = device(in_.device(), "device");
  out_.mtu = number(in_.mtu(), 576, 9000, 1500, "mtu");
  out_.mtu_is_needed = in_.mtu() != 0;
  if (!in_.link_rate().empty()) out_.link_rate = parsed(parse_rate(in_.link_rate()), "link_rate");
  const std::string& daemon = in_.control().tictacd();
  if (daemon.empty()) {
    out_.tictacd = absl::StrCat(runtime_folder(), "/tictacd.sock");
  } else if (daemon != "off") {
    needed_path(daemon, "control.tictacd");
    out_.tictacd = daemon;
  }
}

Device Validator::device(const config::Device& in, const std::string& path) {
  switch (in.kind_case()) {
    case config::Device::kVirtioUser:
      needed_path(in.virtio_user().path(), path + ".virtio_user.path");
      return VirtioUserDevice{in.virtio_user().path()};
    case config::Device::kVhost:
      needed_path(in.vhost().path(), path + ".vhost.path");
      return VhostDevice{in.vhost().path()};
    case config::Device::kAfPacket:
      check(!in.af_packet().interface().empty(), path + ".af_packet.interface", "is needed");
      return AfPacketDevice{in.af_packet().interface()};
    case config::Device::kPcap: {
      const auto& pcap = in.pcap();
      check(!pcap.rx_file().empty() || !pcap.tx_file().empty() || !pcap.interface().empty(), path + ".pcap",
            "needs rx_file, tx_file or interface");
      check(pcap.interface().empty() || (pcap.rx_file().empty() && pcap.tx_file().empty()),
            path + ".pcap.interface", "excludes rx_file and tx_file");
      return PcapDevice{pcap.rx_file(), pcap.tx_file(), pcap.interface(), pcap.infinite_rx()};
    }
    case config::Device::kVdev:
      check(!in.vdev().empty(), path + ".vdev", "is empty; write it as for EAL's --vdev: \"net_null0\"");
      return VdevDevice{in.vdev()};
    case config::Device::kPci:
      check(!in.pci().empty(), path + ".pci", "is empty; write a PCI address: \"0000:01:00.0\"");
      return PciDevice{in.pci()};
    case config::Device::KIND_NOT_SET:
      fail(path, "names no device; it takes one of virtio_user, vhost, af_packet, pcap, vdev, pci");
  }
  return VdevDevice{};
}

void Validator::peers() {
  check(in_.peers_size() > 0, "peers",
        "is needed: the sidecars of other hosts, peers { name: ... address: ... }");
  check(static_cast<size_t>(in_.peers_size()) <= kMostPeers, "peers",
        absl::StrCat("are more than ", kMostPeers));
  std::set<std::string> names{in_.name()};
  std::set<Address> addresses{out_.address};
  for (int i = 0; i < in_.peers_size() && error_.ok(); ++i) {
    const config::Peer& peer = in_.peers(i);
    const std::string path = absl::StrCat("peers.", i);
    name(peer.name(), path + ".name");
    check(names.insert(peer.name()).second, path + ".name",
          absl::StrCat("\"", peer.name(), "\" is the name of another peer or of this sidecar"));
    check(!peer.address().empty(), path + ".address", "is needed, as \"10.77.0.2:7471\"");
    const Address address = parsed(parse_address(peer.address()), path + ".address");
    check(addresses.insert(address).second, path + ".address",
          absl::StrCat("\"", peer.address(), "\" is the address of another peer or of this sidecar"));
    std::optional<MacAddress> mac;
    if (!peer.mac().empty()) mac = parsed(parse_mac(peer.mac()), path + ".mac");
    out_.peers.push_back({peer.name(), address, mac});
  }
}

void Validator::native() {
  const config::Native& in = in_.native();
  ProxyConfig::Native& out = out_.native;
  out.socket_is_default = in.socket().empty();
  out.socket = out.socket_is_default ? absl::StrCat(runtime_folder(), "/native.sock") : in.socket();
  needed_path(out.socket, "native.socket");
  if (!in.socket_mode().empty()) {
    uint32_t mode = 0;
    const bool octal = std::all_of(in.socket_mode().begin(), in.socket_mode().end(),
                                   [](char c) { return c >= '0' && c <= '7'; });
    for (const char c : in.socket_mode().substr(0, 5)) mode = mode * 8 + static_cast<uint32_t>(c - '0');
    check(octal && in.socket_mode().size() <= 4 && mode <= 0777 && (mode & 0600) == 0600,
          "native.socket_mode",
          absl::StrCat("\"", in.socket_mode(),
                       "\" is no mode that lets this user in; write \"0600\", \"0660\" or \"0666\""));
    out.socket_mode = mode;
  }
  constexpr uint32_t kMostMb = 1U << 20;
  out.max_clients = number(in.max_clients(), 1, 1024, 64, "native.max_clients");
  out.max_arena = uint64_t{number(in.max_arena_mb(), 1, kMostMb, 4096, "native.max_arena_mb")} << 20;
  out.max_total_arena =
      uint64_t{number(in.max_total_arena_mb(), 1, kMostMb, 16384, "native.max_total_arena_mb")} << 20;
  out.max_parked = number(in.max_parked(), 1, 1U << 20, 65536, "native.max_parked");
}

void Validator::jobs() {
  check(static_cast<size_t>(in_.jobs_size()) <= kMostJobs, "jobs", absl::StrCat("are more than ", kMostJobs));
  std::set<std::string> names;
  for (int i = 0; i < in_.jobs_size() && error_.ok(); ++i) {
    const std::string path = absl::StrCat("jobs.", i);
    name(in_.jobs(i).name(), path + ".name");
    check(names.insert(in_.jobs(i).name()).second, path + ".name",
          absl::StrCat("\"", in_.jobs(i).name(), "\" is there twice"));
    out_.jobs.push_back({in_.jobs(i).name(), number(in_.jobs(i).weight(), 1, 1000, 1, path + ".weight")});
  }
}

// A file that is read and written at once, or written twice, is lost.
void Validator::captures_differ(const config::Pcap& a, const config::Pcap& b) {
  std::set<std::filesystem::path> seen;
  std::error_code ignored;
  for (const std::string& file : {a.rx_file(), a.tx_file(), b.rx_file(), b.tx_file()}) {
    const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(file, ignored), ignored);
    if (file.empty() || std::filesystem::is_character_file(path, ignored)) continue;  // /dev/null
    check(seen.insert(path).second, "relay", file + " is named twice; give every capture its own file");
  }
}

void Validator::relay() {
  check(in_.has_relay(), "relay",
        "is needed for --relay: relay { a { ... } b { ... } link_rate: \"1Gbit/s\" }");
  const config::Relay& in = in_.relay();
  check(in.has_a(), "relay.a", "is needed: one of the two devices");
  check(in.has_b(), "relay.b", "is needed: one of the two devices");
  check(!in.link_rate().empty(), "relay.link_rate", "is needed, as \"1Gbit/s\"");
  if (!error_.ok()) return;
  out_.name = in_.name().empty() ? "relay" : in_.name();
  out_.mtu = number(in_.mtu(), 576, 9000, 1500, "mtu");
  out_.mtu_is_needed = in_.mtu() != 0;
  out_.relay =
      ProxyConfig::Relay{.a = device(in.a(), "relay.a"),
                         .b = device(in.b(), "relay.b"),
                         .link_rate = parsed(parse_rate(in.link_rate()), "relay.link_rate"),
                         .drop_foreign = in.foreign() == config::Relay::DROP,
                         .drop_malformed = !in.has_malformed() || in.malformed() == config::Relay::DROP,
                         .exit_after_idle = std::chrono::milliseconds(in.exit_after_idle_ms())};
  captures_differ(in.a().pcap(), in.b().pcap());
}

void Validator::eal() {
  const config::Eal& in = in_.eal();
  out_.eal.no_huge = !in.has_no_huge() || in.no_huge();
  out_.eal.memory_mb = number(in.memory_mb(), 64, 65536, 256, "eal.memory_mb");
  out_.eal.file_prefix = in.file_prefix();
  if (out_.eal.file_prefix.empty()) {
    out_.eal.file_prefix = "tictac_";
    for (const char c : out_.name) {
      out_.eal.file_prefix +=
          absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' ? c : '_';
    }
  }
  if (in.has_lcore()) {
    const unsigned cpus = std::max(1U, std::thread::hardware_concurrency());
    check(in.lcore() < 1024, "eal.lcore",
          absl::StrCat(in.lcore(), " is no CPU; this host has 0 to ", cpus - 1));
    out_.eal.lcore = in.lcore();
  }
}

void Validator::log() {
  switch (in_.log().level()) {
    case config::Log::DEBUG:
      out_.log_level = ProxyConfig::LogLevel::kDebug;
      break;
    case config::Log::WARNING:
      out_.log_level = ProxyConfig::LogLevel::kWarning;
      break;
    case config::Log::ERROR:
      out_.log_level = ProxyConfig::LogLevel::kError;
      break;
    default:
      out_.log_level = ProxyConfig::LogLevel::kInfo;
  }
  out_.completion_log = in_.log().completions();
  out_.completion_log_bytes =
      uint64_t{number(in_.log().completions_max_mb(), 1, 65536, 64, "log.completions_max_mb")} << 20;
}

}  // namespace

absl::StatusOr<ProxyConfig> parse_config(const std::string& text, const std::string& file,
                                         const std::vector<std::string>& overrides, ConfigUse use) {
  ConfigText parsed;
  if (const absl::Status status = parsed.parse(text, file); !status.ok()) return status;
  for (const std::string& assignment : overrides) {
    if (const absl::Status status = parsed.override_field(assignment); !status.ok()) return status;
  }
  return Validator(parsed, use).run();
}

}  // namespace tictac
