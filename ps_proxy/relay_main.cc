#include "ps_proxy/relay_main.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <atomic>
#include <iostream>
#include <memory>
#include <thread>

#include "dataplane/port/dpdk_port.h"
#include "dataplane/port/eal.h"
#include "dataplane/relay/relay.h"
#include "dataplane/runtime/steady_clock.h"
#include "nlohmann/json.hpp"
#include "ps_proxy/client/client_state.h"
#include "ps_proxy/sidecar.h"
#include "spdlog/spdlog.h"

namespace tictac {
namespace {

using nlohmann::json;

constexpr Duration kNap = 100us;
constexpr Duration kSpin = 50us;

// A frame larger than the MTU comes in several buffers: the port drops and counts it, the relay never sees
// it.
json to_json(RelayCounters c, const PortCounters& in) {
  c.received += in.segmented;
  c.drops[static_cast<size_t>(RelayVerdict::kOversized)] += in.segmented;
  json drops = json::object();
  for (size_t i = 0; i < c.drops.size(); ++i) drops[name_of(static_cast<RelayVerdict>(i))] = c.drops[i];
  return {
      {"received", c.received}, {"sent", c.sent}, {"bytes_sent", c.bytes_sent}, {"ours", c.ours},
      {"passed", c.passed},     {"full", c.full}, {"inversions", c.inversions}, {"drops", std::move(drops)}};
}

// The packet loop: busy while there is work, naps when there is none. Ends when told, or when nothing came
// and nothing waits for `idle_limit` (0: never).
void loop(Relay& relay, Duration idle_limit, const std::atomic<bool>& stop) {
  Time last_work = steady_now();
  while (!stop.load(std::memory_order_relaxed)) {
    const Time now = steady_now();
    if (relay.poll_once(now) > 0) {
      last_work = now;
      continue;
    }
    if (idle_limit > Duration{0} && relay.empty() && now - last_work >= idle_limit) return;
    if (now - last_work < kSpin || relay.next_deadline(now) < now + kNap) continue;
    std::this_thread::sleep_for(kNap);
  }
}

absl::StatusOr<std::unique_ptr<DpdkPort>> open_port(const ProxyConfig& config, const Device& device) {
  auto port = DpdkPort::open({.device = device, .mtu = config.mtu, .mtu_is_needed = config.mtu_is_needed});
  if (port.ok() && !(*port)->mtu_note().empty()) spdlog::info("{}", (*port)->mtu_note());
  return port;
}

int fail(const absl::Status& status) {
  std::cerr << "tictac-proxy: " << status.message() << '\n';
  return 1;
}

}  // namespace

int run_relay(const ProxyConfig& config, int signal_fd) {
  const ProxyConfig::Relay& settings = *config.relay;
  const auto eal = start_eal(config, {settings.a, settings.b});
  if (!eal.ok()) return fail(eal.status());
  const auto a = open_port(config, settings.a);
  if (!a.ok()) return fail(a.status());
  const auto b = open_port(config, settings.b);
  if (!b.ok()) return fail(b.status());

  Relay relay({.link_rate = settings.link_rate,
               .pass_foreign = !settings.drop_foreign,
               .pass_malformed = !settings.drop_malformed},
              **a, **b);
  spdlog::info("relay between {} and {} at {}", (*a)->name(), (*b)->name(), format_rate(settings.link_rate));
  std::atomic<bool> stop{false};
  const native::Fd done(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  absl::Status lcore_status;
  std::thread lcore([&] {
    lcore_status = become_lcore(config.eal.lcore);
    if (lcore_status.ok()) {
      loop(relay, settings.exit_after_idle, stop);
      leave_lcore();
    }
    eventfd_write(done.get(), 1);
  });
  std::array<pollfd, 2> fds{{{signal_fd, POLLIN, 0}, {done.get(), POLLIN, 0}}};
  while (poll(fds.data(), fds.size(), -1) < 0) {
  }
  stop = true;
  lcore.join();
  if (!lcore_status.ok()) return fail(lcore_status);
  std::cout << json{{"a_to_b", to_json(relay.forth().counters(), (*a)->counters())},
                    {"b_to_a", to_json(relay.back().counters(), (*b)->counters())}}
            << '\n';
  return 0;
}

}  // namespace tictac
