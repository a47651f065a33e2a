#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "dataplane/sched/scheduler.h"
#include "dataplane/transport/counters.h"
#include "ps_proxy/native/client_session.h"

// What the gateway tells the control thread. Memory is made and destroyed by the control thread only: the
// lcore hands back what it was lent.
namespace tictac::native {

// What the gateway did, copied for another thread.
struct GatewaySnapshot {
  struct Job {
    std::string name;
    ScheduleVersion version;
    size_t names = 0;
    size_t under_way = 0;
    JobCounters counters;
  };
  struct Client {
    std::string application;
    std::string job;
    size_t names = 0;
    uint64_t doorbells = 0;
  };
  std::vector<Job> jobs;
  std::vector<Client> clients;
  TransportCounters transport;
  Scheduler::Counters scheduler;
  std::vector<SessionStats> sessions;  // by peer
  uint64_t broken_clients = 0;
  uint64_t malformed_requests = 0;
  uint64_t log_lines_dropped = 0;
};

// From the lcore.
struct ClientBroken {  // the control thread must close its socket and detach it
  uint64_t id = 0;
  ClientFault fault{};
};
struct ClientDetached {
  std::unique_ptr<ClientSession> client;
};
using GatewayReply = std::variant<std::monostate, ClientBroken, ClientDetached>;

}  // namespace tictac::native
