#include "ps_proxy/sidecar.h"

#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "control/schedule/socket_owner.h"
#include "dataplane/net/headers.h"
#include "dataplane/runtime/steady_clock.h"
#include "spdlog/spdlog.h"

namespace tictac {
namespace {

constexpr Duration kCallLimit = 1s;
constexpr Duration kCloseLimit = 500ms;

// Larger at each start of the process, also over reboots.
uint64_t new_incarnation() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()).count());
}

void log_dpdk(DpdkLogLevel level, std::string_view line) {
  switch (level) {
    case DpdkLogLevel::kError:
      return spdlog::error("dpdk: {}", line);
    case DpdkLogLevel::kWarning:
      return spdlog::warn("dpdk: {}", line);
    case DpdkLogLevel::kInfo:
      return spdlog::info("dpdk: {}", line);
    case DpdkLogLevel::kDebug:
      return spdlog::debug("dpdk: {}", line);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Eal>> start_eal(const ProxyConfig& config,
                                               const std::vector<Device>& devices) {
  EalConfig eal{.no_huge = config.eal.no_huge,
                .memory_mb = config.eal.memory_mb,
                .file_prefix = config.eal.file_prefix,
                .log = log_dpdk};
  for (const Device& device : devices) {
    if (const auto* pci = std::get_if<PciDevice>(&device)) eal.pci_devices.push_back(pci->address);
  }
  if (config.log_level == ProxyConfig::LogLevel::kDebug) eal.log_level = DpdkLogLevel::kInfo;
  return Eal::start(eal);
}

Sidecar::Sidecar(const ProxyConfig& config) : config_(config), started_(steady_now()) {}

absl::StatusOr<std::unique_ptr<Sidecar>> Sidecar::start(const ProxyConfig& config) {
  std::unique_ptr<Sidecar> sidecar(new Sidecar(config));
  // What another process may hold (the socket) comes first: it fails before anything costly has begun.
  absl::Status status = sidecar->open_gateway();
  if (status.ok()) status = sidecar->open_dataplane();
  if (status.ok()) status = sidecar->start_lcore();
  if (!status.ok()) return status;
  if (!config.tictacd.empty()) {
    sidecar->schedules_ =
        std::make_unique<ScheduleLink>(config.tictacd, config.name, *sidecar->gateway_, sidecar->mailbox_);
  }
  return sidecar;
}

absl::Status Sidecar::open_gateway() {
  if (!config_.completion_log.empty()) {
    auto log = native::CompletionLog::open(config_.completion_log, config_.completion_log_bytes);
    if (!log.ok()) return log.status();
    completion_log_ = *std::move(log);
  }
  gateway_ = std::make_unique<native::NativeGateway>(
      native::NativeGateway::Config{.most_parked = config_.native.max_parked,
                                    .peer_count = config_.peers.size(),
                                    .log = completion_log_.get()});
  if (config_.native.socket_is_default) {
    const absl::Status made = make_runtime_folder(runtime_folder());
    if (!made.ok()) return made;
  }
  native::NativeListener::Config listener{.path = config_.native.socket,
                                          .mode = config_.native.socket_mode,
                                          .max_clients = config_.native.max_clients,
                                          .max_arena = config_.native.max_arena,
                                          .max_total_arena = config_.native.max_total_arena,
                                          .stats = [this] { return statistics(); }};
  for (const auto& peer : config_.peers) listener.peers.push_back(peer.name);
  auto opened = native::NativeListener::open(std::move(listener), *gateway_, mailbox_);
  if (!opened.ok()) return opened.status();
  listener_ = *std::move(opened);
  return absl::OkStatus();
}

absl::Status Sidecar::open_dataplane() {
  auto eal = start_eal(config_, {*config_.device});
  if (!eal.ok()) return eal.status();
  eal_ = *std::move(eal);
  auto port = DpdkPort::open({.device = *config_.device,
                              .mtu = config_.mtu,
                              .mtu_is_needed = config_.mtu_is_needed,
                              .mac = config_.mac});
  if (!port.ok()) return port.status();
  port_ = *std::move(port);
  if (!port_->mtu_note().empty()) spdlog::info("{}", port_->mtu_note());

  const Time now = steady_now();
  UdpStack::Config stack{.mac = port_->mac(),
                         .local = config_.address,
                         .prefix_length = config_.prefix_length,
                         .gateway = config_.gateway};
  for (const auto& peer : config_.peers) {
    if (peer.mac) stack.static_neighbours.emplace_back(peer.address.ip, *peer.mac);
  }
  stack_ = std::make_unique<UdpStack>(stack, now);
  scheduler_ = std::make_unique<Scheduler>(Scheduler::Config{.link_rate = config_.link_rate});
  const uint64_t incarnation = new_incarnation();
  endpoint_ = std::make_unique<Endpoint>(Endpoint::Config{.name = config_.name,
                                                          .incarnation = incarnation,
                                                          .max_datagram = max_udp_payload(port_->mtu()),
                                                          .seed = incarnation},
                                         *scheduler_, *gateway_);
  gateway_->connect(*endpoint_, *scheduler_);
  for (const auto& peer : config_.peers) endpoint_->add_peer(peer.name, peer.address, now);
  for (const auto& job : config_.jobs) endpoint_->set_job_weight(job.name, job.weight);
  return absl::OkStatus();
}

absl::Status Sidecar::start_lcore() {
  loop_ = std::make_unique<LcoreLoop>(LcoreLoop::Config{}, *port_, *stack_, *endpoint_);
  loop_->add_task(mailbox_);
  loop_->add_task(*gateway_);
  std::promise<absl::Status> started;
  auto result = started.get_future();
  lcore_ = std::thread([this, &started] {
    const absl::Status status = become_lcore(config_.eal.lcore);
    started.set_value(status);
    if (!status.ok()) return;
    loop_->run();
    leave_lcore();
  });
  return result.get();
}

void Sidecar::handle_ready() {
  listener_->handle_ready();
  if (completion_log_) completion_log_->write();
}

// The peers hear it with our next datagrams: the sessions are down when those have left.
void Sidecar::close_sessions() {
  if (!mailbox_.call(kCallLimit, [this](Time) { endpoint_->close(); })) return;
  const Time end = steady_now() + kCloseLimit;
  bool any_up = true;
  while (any_up && steady_now() < end) {
    std::this_thread::sleep_for(2ms);
    any_up = false;
    mailbox_.call(kCallLimit, [&](Time) {
      for (size_t i = 0; i < config_.peers.size(); ++i) {
        any_up |= endpoint_->peer_is_up(PeerId(static_cast<uint16_t>(i)));
      }
    });
  }
}

Sidecar::~Sidecar() {
  if (port_) port_->will_close();
  schedules_.reset();
  if (!lcore_.joinable()) return;
  close_sessions();
  loop_->stop();
  lcore_.join();
}

}  // namespace tictac
