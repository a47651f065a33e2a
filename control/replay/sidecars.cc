#include "control/replay/sidecars.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "control/replay/interrupt.h"

namespace tictac::replay {
namespace {

namespace fs = std::filesystem;

constexpr Duration kStartLimit = 15s;
constexpr useconds_t kStartPoll = 10'000;

// A program of the same build or installation as this one.
absl::StatusOr<std::string> find_program(const std::string& name) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& place : {here / name, here.parent_path() / "ps_proxy" / name}) {
    if (access(place.c_str(), X_OK) == 0) return place.string();
  }
  return absl::NotFoundError(
      absl::StrCat(name, " is not beside ", here.string(), "; build all with scripts/build"));
}

// A socket file is there before anybody listens on it. tictacd's is a stream, a native one keeps messages.
bool listens(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::copy_n(path.begin(), std::min(path.size(), sizeof address.sun_path - 1), address.sun_path);
  for (const int kind : {SOCK_STREAM, SOCK_SEQPACKET}) {
    const int fd = socket(AF_UNIX, kind | SOCK_CLOEXEC, 0);
    const bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    if (connected) return true;
  }
  return false;
}

std::string proxy_config(const Sidecars::Options& options, bool is_ps) {
  const std::string me = is_ps ? "ps0" : "worker0";
  const std::string other = is_ps ? "worker0" : "ps0";
  const uint64_t arena_mb = options.arena_bytes / (1 << 20) + 64;
  return absl::StrCat(
      "name: \"", me, "\"\naddress: \"10.77.0.", is_ps ? 1 : 2, ":7471\"\n", "peers { name: \"", other,
      "\" address: \"10.77.0.", is_ps ? 2 : 1, ":7471\" }\n", "device { ", is_ps ? "vhost" : "virtio_user",
      " { path: \"", options.folder, "/cable.sock\" } }\n", "eal { file_prefix: \"tictac_replay_", getpid(),
      "_", me, "\" memory_mb: 128 }\n", "mtu: ", options.mtu, "\nlink_rate: \"", options.link_rate.value(),
      "\"\n", "native { socket: \"", Sidecars::native_socket(options.folder, me),
      "\" max_arena_mb: ", arena_mb, " max_total_arena_mb: ", arena_mb, " }\n",
      "control { tictacd: \"unix:", Sidecars::daemon_socket(options.folder), "\" }\n");
}

}  // namespace

absl::StatusOr<Sidecars> Sidecars::start(const Options& options) {
  const auto daemon = find_program("tictacd");
  const auto proxy = find_program("tictac-proxy");
  if (!daemon.ok()) return daemon.status();
  if (!proxy.ok()) return proxy.status();
  Sidecars sidecars;
  std::vector<std::string> sockets = {daemon_socket(options.folder)};
  auto started = Process::spawn({*daemon, "--socket", sockets[0], "--state", options.folder + "/tictacd.db"},
                                options.folder + "/tictacd.log");
  if (!started.ok()) return started.status();
  sidecars.processes_.push_back(*std::move(started));
  for (const bool is_ps : {true, false}) {
    const std::string me = is_ps ? "ps0" : "worker0";
    const std::string config = absl::StrCat(options.folder, "/", me, ".textproto");
    std::ofstream(config) << proxy_config(options, is_ps);
    started = Process::spawn({*proxy, "--config", config}, absl::StrCat(options.folder, "/", me, ".log"));
    if (!started.ok()) return started.status();
    sidecars.processes_.push_back(*std::move(started));
    sockets.push_back(native_socket(options.folder, me));
  }
  for (Duration waited{0}; waited < kStartLimit; waited += Duration(kStartPoll * 1us)) {
    absl::Status alive = interrupted();
    if (alive.ok()) alive = sidecars.running();
    if (!alive.ok()) return alive;
    bool all = true;
    for (const std::string& socket : sockets) all = all && listens(socket);
    if (all) return sidecars;
    usleep(kStartPoll);
  }
  return absl::DeadlineExceededError(absl::StrCat("the sidecars and tictacd do not listen within ",
                                                  kStartLimit / 1s, " s; is this host overloaded?"));
}

absl::Status Sidecars::running() {
  for (Process& process : processes_) {
    const absl::Status status = process.running();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Sidecars::proxies_running() {
  const absl::Status ps = processes_[1].running();
  return ps.ok() ? processes_[2].running() : ps;
}

double payload_share(uint32_t mtu) {
  constexpr double kIpAndUdp = 20 + 8;
  constexpr double kEthernet = 14;
  constexpr double kHeader = 32;
  constexpr double kStreamFrame = 1 + 2 + 4 + 4 + 1 + 2;  // type, stream, offset, accept time, end, length
  return (mtu - kIpAndUdp - kHeader - kStreamFrame) / (mtu + kEthernet);
}

}  // namespace tictac::replay
