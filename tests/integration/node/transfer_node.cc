// One sidecar's dataplane without gateways: a port, a stack, an endpoint, and an application that serves and
// fetches pattern bytes. For integration tests and measurements; prints one JSON document when it ends.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_split.h"
#include "dataplane/port/dpdk_port.h"
#include "dataplane/port/eal.h"
#include "dataplane/runtime/lcore_loop.h"
#include "dataplane/runtime/mailbox.h"
#include "dataplane/runtime/steady_clock.h"
#include "nlohmann/json.hpp"
#include "tests/integration/node/application.h"

using namespace tictac;
using namespace tictac::integration;

namespace {

struct Options {
  std::string device, prefix, name, address, peer, peer_address, mac, link_rate, ups_file;
  uint32_t mtu = 1500;
  uint32_t ring = 256;
  uint32_t memory_mb = 64;
  bool mtu_is_needed = false;
  bool no_checksum = false;
  double seconds = 0;
  int64_t interval_ms = 0;
  int cpu = -1;
  Application::Config application;
};

volatile std::sig_atomic_t stop_asked = 0;

[[noreturn]] void exit_because(const absl::Status& status) {
  std::cerr << "transfer_node: " << status.message() << std::endl;
  std::exit(1);
}

template <typename T>
T value_or_exit(absl::StatusOr<T> value) {
  if (!value.ok()) exit_because(value.status());
  return std::move(*value);
}

Device device_of(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  const std::string rest = parts.size() > 1 ? parts[1] : "";
  if (parts[0] == "virtio_user") return VirtioUserDevice{rest};
  if (parts[0] == "vhost") return VhostDevice{rest};
  if (parts[0] == "af_packet") return AfPacketDevice{rest};
  return VdevDevice{text};
}

Options parse(int argc, char** argv) {
  Options o;
  CLI::App app("transfer_node");
  app.add_option("--device", o.device, "virtio_user:PATH, vhost:PATH, af_packet:INTERFACE or a vdev")
      ->required();
  app.add_option("--prefix", o.prefix)->required();
  app.add_option("--name", o.name)->required();
  app.add_option("--address", o.address)->required();
  app.add_option("--peer", o.peer)->required();
  app.add_option("--peer-address", o.peer_address)->required();
  app.add_option("--mac", o.mac);
  app.add_option("--ups-file", o.ups_file, "gets one byte for each session that comes up");
  app.add_option("--link-rate", o.link_rate);
  app.add_option("--mtu", o.mtu);
  app.add_flag("--mtu-is-needed", o.mtu_is_needed);
  app.add_flag("--no-checksum", o.no_checksum);
  app.add_option("--ring", o.ring);
  app.add_option("--memory-mb", o.memory_mb);
  app.add_option("--cpu", o.cpu);
  app.add_option("--seconds", o.seconds, "ends after this; 0: at SIGTERM or when all is fetched");
  app.add_option("--count", o.application.count);
  app.add_option("--parallel", o.application.parallel);
  app.add_option("--size", o.application.size);
  app.add_option("--interval-ms", o.interval_ms);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
  o.application.interval = o.interval_ms * 1ms;
  return o;
}

double cpu_seconds(int who) {
  rusage usage = {};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Minor faults of the lcore after its first quarter of a second of transfers.
struct FaultCounter {
  Time since = kNever;
  int64_t at_start = 0;
  int64_t faults = 0;
  static int64_t now_faults() {
    rusage usage = {};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
  }
  void tick(Time now, bool busy) {
    if (!busy) return;
    if (since == kNever) since = now;
    if (at_start == 0 && now - since > 250ms) at_start = now_faults();
    if (at_start != 0) faults = now_faults() - at_start;
  }
};

struct Counters {
  LoopCounters loop;
  PortCounters port;
  NetCounters net;
  TransportCounters transport;
  Scheduler::Counters scheduler;
};

nlohmann::json report(const ApplicationStats& a, const Counters& r) {
  uint64_t drops = 0;
  for (const uint64_t d : r.transport.drops) drops += d;
  const double seconds = 1e-9 * static_cast<double>(a.last_done_ns - a.first_open_ns);
  return {{"ups", a.ups},
          {"downs", a.downs},
          {"completed", a.completed},
          {"failed", a.failed},
          {"bytes", a.bytes},
          {"mismatches", a.mismatches},
          {"goodput_gbps", seconds > 0 ? 8e-9 * static_cast<double>(a.bytes) / seconds : 0.0},
          {"longest_gap_ns", a.longest_gap_ns},
          {"fetch_ns",
           {{"min", a.fetch_min_ns},
            {"median", a.fetch_median_ns},
            {"p99", a.fetch_p99_ns},
            {"max", a.fetch_max_ns}}},
          {"iterations", r.loop.iterations},
          {"busy_iterations", r.loop.busy_iterations},
          {"sleeps", r.loop.sleeps},
          {"stalls", r.loop.stalls},
          {"frames_discarded", r.loop.frames_discarded},
          {"frames_in", r.port.frames_in},
          {"frames_out", r.port.frames_out},
          {"refused", r.port.refused},
          {"pool_empty", r.port.pool_empty},
          {"segmented", r.port.segmented},
          {"device_missed", r.port.device_in_missed},
          {"datagrams_in", r.net.datagrams_in},
          {"bad_checksum", r.net.parse[static_cast<size_t>(FrameKind::kBadUdpChecksum)]},
          {"unresolved", r.net.unresolved},
          {"arp_in", r.net.arp_in},
          {"arp_out", r.net.arp_out},
          {"address_conflicts", r.net.address_conflicts},
          {"transport_drops", drops},
          {"retransmits", r.transport.retransmitted_packets},
          {"spurious_losses", r.transport.spurious_losses},
          {"inversions", r.scheduler.inversions}};
}

struct LcoreUsage {
  int64_t minor_faults = 0;  // after the warm-up
  double cpu_seconds = 0;
};

// Runs the packet loop on a thread of its own until the node has done what it was asked for.
Counters run_loop(const Options& o, DpdkPort& port, UdpStack& stack, const Scheduler& scheduler,
                  Endpoint& endpoint, Application& application, LcoreUsage* usage) {
  FaultCounter faults;
  LcoreLoop loop({}, port, stack, endpoint);
  Mailbox mailbox;
  loop.add_task(application);
  loop.add_task(mailbox);
  std::thread lcore([&] {
    const absl::Status status = become_lcore(o.cpu < 0 ? std::nullopt : std::optional<uint32_t>(o.cpu));
    if (!status.ok()) exit_because(status);
    loop.run();
    usage->cpu_seconds = cpu_seconds(RUSAGE_THREAD);
    leave_lcore();
  });
  const Time end =
      o.seconds > 0 ? steady_now() + std::chrono::duration_cast<Duration>(o.seconds * 1s) : kNever;
  bool done = false;
  uint64_t ups = 0;
  std::ofstream ups_file(o.ups_file);
  while (!stop_asked && !done && steady_now() < end) {
    usleep(20'000);
    for (; ups < application.ups(); ++ups) ups_file << '.' << std::flush;
    mailbox.call(1s, [&](Time now) {
      faults.tick(now, application.has_fetched());
      done = application.finished();
    });
  }
  mailbox.call(1s, [&](Time) {
    port.update_device_counters();
    endpoint.close();
  });
  loop.stop();
  lcore.join();
  usage->minor_faults = faults.faults;
  return {loop.counters(), port.counters(), stack.counters(), endpoint.counters(), scheduler.counters()};
}

int run(const Options& o) {
  auto eal = value_or_exit(Eal::start({.memory_mb = o.memory_mb, .file_prefix = o.prefix}));
  PortConfig port_config = {.device = device_of(o.device), .mtu = o.mtu, .mtu_is_needed = o.mtu_is_needed};
  port_config.ring = o.ring;
  if (!o.mac.empty()) port_config.mac = value_or_exit(parse_mac(o.mac));
  auto port = value_or_exit(DpdkPort::open(port_config));
  if (!port->mtu_note().empty()) std::cerr << "transfer_node: " << port->mtu_note() << std::endl;
  const Rate rate = o.link_rate.empty() ? Rate(0) : value_or_exit(parse_rate(o.link_rate));

  UdpStack stack(
      {.mac = port->mac(), .local = value_or_exit(parse_address(o.address)), .udp_checksum = !o.no_checksum},
      steady_now());
  Application application(o.application);
  Scheduler scheduler({.link_rate = rate});
  Endpoint endpoint({.name = o.name,
                     .incarnation = static_cast<uint64_t>(steady_now().time_since_epoch().count()),
                     .max_datagram = max_udp_payload(port->mtu())},
                    scheduler, application);
  application.use(endpoint);
  endpoint.add_peer(o.peer, value_or_exit(parse_address(o.peer_address)), steady_now());

  LcoreUsage usage;
  const Counters counters = run_loop(o, *port, stack, scheduler, endpoint, application, &usage);
  nlohmann::json out = report(application.stats(), counters);
  out["minor_faults"] = usage.minor_faults;
  out["lcore_cpu_seconds"] = usage.cpu_seconds;
  out["process_cpu_seconds"] = cpu_seconds(RUSAGE_SELF);
  out["frames_in_use"] = port->frames_in_use();
  out["mtu"] = port->mtu();
  std::cout << out.dump() << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGTERM, [](int) { stop_asked = 1; });
  std::signal(SIGINT, [](int) { stop_asked = 1; });
  return run(parse(argc, argv));
}
