#include <unistd.h>

#include <vector>

#include "dataplane/runtime/steady_clock.h"
#include "nlohmann/json.hpp"
#include "ps_proxy/native/gateway_json.h"
#include "ps_proxy/sidecar.h"

namespace tictac {
namespace {

using nlohmann::json;

json to_json(const PortCounters& c) {
  return {{"frames_in", c.frames_in},
          {"bytes_in", c.bytes_in},
          {"frames_out", c.frames_out},
          {"bytes_out", c.bytes_out},
          {"refused", c.refused},
          {"pool_empty", c.pool_empty},
          {"segmented", c.segmented},
          {"device_in_missed", c.device_in_missed},
          {"device_in_errors", c.device_in_errors},
          {"device_out_errors", c.device_out_errors}};
}

json to_json(const LoopCounters& c) {
  return {{"iterations", c.iterations},
          {"busy_iterations", c.busy_iterations},
          {"sleeps", c.sleeps},
          {"stalls", c.stalls},
          {"frames_discarded", c.frames_discarded}};
}

json to_json(const NetCounters& c) {
  json parse = json::object();
  for (size_t i = 0; i < c.parse.size(); ++i) {
    parse[name_of(static_cast<FrameKind>(i))] = c.parse[i];
  }
  return {{"datagrams_in", c.datagrams_in},
          {"datagrams_out", c.datagrams_out},
          {"arp_in", c.arp_in},
          {"arp_out", c.arp_out},
          {"icmp_echo_in", c.icmp_echo_in},
          {"address_conflicts", c.address_conflicts},
          {"other_mac", c.other_mac},
          {"other_address", c.other_address},
          {"other_port", c.other_port},
          {"bad_source", c.bad_source},
          {"replies_refused", c.replies_refused},
          {"unresolved", c.unresolved},
          {"unresolved_held", c.unresolved_held},
          {"neighbours_evicted", c.neighbours_evicted},
          {"frames", std::move(parse)}};
}

}  // namespace

std::string Sidecar::statistics() {
  native::GatewaySnapshot snapshot;
  LoopCounters loop;
  PortCounters port;
  NetCounters net;
  const bool taken = mailbox_.call(1s, [&](Time) {
    gateway_->take_snapshot(snapshot);
    port_->update_device_counters();
    loop = loop_->counters();
    port = port_->counters();
    net = stack_->counters();
  });
  std::vector<std::string> peers;
  for (const auto& peer : config_.peers) peers.push_back(peer.name);
  json out = taken ? native::to_json(snapshot, peers) : json{{"error", "the packet loop does not answer"}};
  out["name"] = config_.name;
  out["version"] = TICTAC_VERSION;
  out["pid"] = getpid();
  out["uptime_ns"] = (steady_now() - started_).count();
  out["link_rate_bps"] = config_.link_rate.value();
  out["tictacd_connected"] = schedules_ && schedules_->connected();
  if (taken) {
    out["loop"] = to_json(loop);
    out["port"] = to_json(port);
    out["net"] = to_json(net);
  }
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace tictac
