#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/net/udp_stack.h"
#include "dataplane/port/dpdk_port.h"
#include "dataplane/port/eal.h"
#include "dataplane/runtime/lcore_loop.h"
#include "dataplane/runtime/mailbox.h"
#include "dataplane/sched/scheduler.h"
#include "dataplane/transport/endpoint.h"
#include "ps_proxy/config/proxy_config.h"
#include "ps_proxy/native/completion_log.h"
#include "ps_proxy/native/native_gateway.h"
#include "ps_proxy/native/native_listener.h"
#include "ps_proxy/schedule_link.h"

namespace tictac {

// A whole sidecar: gateways, dataplane on a thread of its own (the lcore), link to the daemon. Its owner is
// the control thread. Members stand in the order in which they are made; they go in the reverse one.
class Sidecar {
 public:
  // Starts everything. Errors are one line with the cure; what was started is stopped again.
  static absl::StatusOr<std::unique_ptr<Sidecar>> start(const ProxyConfig& config);
  // Tells the peers and stops; at most about a second.
  ~Sidecar();
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;

  // Control thread: readable when handle_ready() has something to do; also call it every kTick.
  static constexpr Duration kTick = 100ms;
  int fd() const { return listener_->fd(); }
  void handle_ready();

  // All statistics as one JSON document (README.md).
  std::string statistics();

 private:
  explicit Sidecar(const ProxyConfig& config);
  absl::Status open_gateway();
  absl::Status open_dataplane();
  absl::Status start_lcore();
  void close_sessions();

  const ProxyConfig config_;
  const Time started_;
  Mailbox mailbox_;
  std::unique_ptr<native::CompletionLog> completion_log_;
  std::unique_ptr<native::NativeGateway> gateway_;
  std::unique_ptr<native::NativeListener> listener_;
  std::unique_ptr<Eal> eal_;
  std::unique_ptr<DpdkPort> port_;
  std::unique_ptr<UdpStack> stack_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<LcoreLoop> loop_;
  std::thread lcore_;
  std::unique_ptr<ScheduleLink> schedules_;
};

// How a port's parts of the configuration are handed to DPDK; shared with the relay.
absl::StatusOr<std::unique_ptr<Eal>> start_eal(const ProxyConfig& config, const std::vector<Device>& devices);

}  // namespace tictac
