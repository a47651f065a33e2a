#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "dataplane/sched/rank_table.h"
#include "dataplane/sched/scheduler.h"
#include "dataplane/transport/counters.h"
#include "ps_proxy/native/client_session.h"

// What the control thread and the gateway's lcore say to each other, by pointers handed over through
// SpscRings: memory is made and destroyed by the control thread only.
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
    uint64_t id = 0;
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

// To the lcore.
struct AttachClient {
  std::unique_ptr<ClientSession> client;
};
struct DetachClient {
  uint64_t id = 0;
};
struct SetTable {
  std::string job;
  std::unique_ptr<const RankTable> table;  // null: the job has no schedule any more
};
struct TakeSnapshot {
  std::unique_ptr<GatewaySnapshot> snapshot;  // with room reserved
};
using GatewayCommand = std::variant<std::monostate, AttachClient, DetachClient, SetTable, TakeSnapshot>;

// From the lcore.
struct ClientAttached {
  uint64_t id = 0;
  bool accepted = false;  // false: there are too many jobs
};
struct ClientBroken {  // the control thread must close its socket and detach it
  uint64_t id = 0;
  ClientFault fault{};
};
struct ClientDetached {
  std::unique_ptr<ClientSession> client;
};
struct TableInForce {
  std::string job;
  ScheduleVersion version;
  std::unique_ptr<const RankTable> old;
};
struct SnapshotTaken {
  std::unique_ptr<GatewaySnapshot> snapshot;
};
using GatewayReply =
    std::variant<std::monostate, ClientAttached, ClientBroken, ClientDetached, TableInForce, SnapshotTaken>;

}  // namespace tictac::native
