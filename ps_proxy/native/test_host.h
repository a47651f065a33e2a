#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/sched/scheduler.h"
#include "dataplane/transport/endpoint.h"
#include "ps_proxy/client/tictac.h"
#include "ps_proxy/native/native_gateway.h"

namespace tictac::native {

struct CloseClient {
  void operator()(tictac_client* client) const { tictac_close(client); }
};
using TestClient = std::unique_ptr<tictac_client, CloseClient>;

// One sidecar without DPDK: real scheduler, endpoint and gateway, virtual time, datagrams handed over in
// memory.
class TestHost {
 public:
  struct Config {
    std::string name;
    Address address;
    uint64_t incarnation = 1;
    uint32_t most_parked = 65536;
    Rate link_rate{0};
    CompletionLog* log = nullptr;
  };
  TestHost(const Config& config, const TestHost* peer, Time now);

  // A client over real memfds, as the listener makes it, attached when this returns. Its session's id in *id.
  TestClient connect(const std::string& job, Time now, uint32_t max_operations = 256,
                     uint64_t arena = 1 << 20, uint64_t* id = nullptr);
  // The client's process has gone: what the control thread does then. The test goes on with run() until
  // detached() says so.
  void disconnect(uint64_t id) { gateway.detach(id); }
  void set_table(const ScheduleEntries& schedule) {
    gateway.set_table(schedule.job, std::make_unique<RankTable>(schedule));
  }

  void receive(Time now, const Address& from, ByteSpan datagram) {
    endpoint.on_datagram(now, from, datagram);
  }
  void take_replies();

  Config config;
  Scheduler scheduler;
  NativeGateway gateway;
  Endpoint endpoint;
  std::vector<uint64_t> detached;
  std::vector<ClientBroken> broken;
  uint64_t next_id = 1;

 private:
  std::vector<Fd> proxy_ends_;  // of the clients' sockets
};

// Two of them on a cable that carries a datagram in 50 us, or nothing while it is cut.
class TestPair {
 public:
  explicit TestPair(TestHost::Config worker_config = {}, TestHost::Config ps_config = {});

  // Runs both for `span`, in steps of 50 us.
  void run(Duration span);
  // Carries what both have to send now, without time passing.
  void carry();
  // Runs until `done`, at most for `limit`; says whether it was.
  template <typename Done>
  bool run_until(Done done, Duration limit = 5s) {
    const Time end = now + limit;
    while (!done() && now < end) run(50us);
    return done();
  }
  // All events that the client has now, and those that come within `span`.
  std::vector<tictac_event> events(tictac_client* client, Duration span = 0ns);
  // Runs until the client has an event of this kind and returns it; fails the test after a second. Others
  // before it are dropped.
  tictac_event next(tictac_client* client, tictac_event_kind kind, Duration limit = 1s);

  Time now{1s};
  std::unique_ptr<TestHost> worker;
  std::unique_ptr<TestHost> ps;
  bool cut = false;

 private:
  struct Flight {
    TestHost* to;
    Address from;
    std::vector<uint8_t> bytes;
  };
  void step(TestHost& host, TestHost& peer);
  std::deque<Flight> flights_;
};

}  // namespace tictac::native
