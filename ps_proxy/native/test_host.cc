#include "ps_proxy/native/test_host.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "ps_proxy/native/shared_memory.h"

namespace tictac::native {

TestHost::TestHost(const Config& c, const TestHost* peer, Time now)
    : config(c),
      scheduler({.link_rate = c.link_rate}),
      gateway({.most_parked = c.most_parked, .peer_count = 1, .log = c.log}),
      endpoint({.name = c.name, .incarnation = c.incarnation}, scheduler, gateway) {
  gateway.connect(endpoint, scheduler);
  const bool is_worker = c.name == "worker";
  const std::string other = is_worker ? "ps" : "worker";
  const Address address = peer ? peer->config.address : Address{is_worker ? 2U : 1U, 7471};
  endpoint.add_peer(other, address, now);
}

TestClient TestHost::connect(const std::string& job, Time now, uint32_t max_operations, uint64_t arena_bytes,
                             uint64_t* id) {
  const ControlLayout layout = ControlLayout::of(max_operations);
  auto control = make_shared_memory("control", layout.size());
  auto arena = make_shared_memory("arena", arena_bytes);
  EXPECT_TRUE(control.ok() && arena.ok());
  std::array<int, 2> bells{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bells.data()), 0);
  std::array<int, 2> sockets{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()), 0);

  TestClient client(new tictac_client(arena_bytes, max_operations));
  client->socket = Fd(sockets[0]);
  client->doorbell = Fd(bells[0]);
  client->peers = {config.name == "worker" ? "ps" : "worker"};
  EXPECT_TRUE(client->control.map(control->fd.get(), layout.size()));
  EXPECT_TRUE(client->memory.map(arena->fd.get(), arena_bytes));
  uint8_t* memory = client->control.data();
  client->submissions = RingWriter(&header_of(memory)->submissions,
                                   entries_at(memory, layout.submissions_at()), layout.submission_capacity);
  client->events =
      RingReader(&header_of(memory)->events, entries_at(memory, layout.events_at()), layout.event_capacity);
  proxy_ends_.emplace_back(sockets[1]);

  auto session =
      std::make_unique<ClientSession>(next_id, job, "test", max_operations, std::move(control->mapping),
                                      std::move(arena->mapping), Fd(bells[1]));
  if (id) *id = next_id;
  ++next_id;
  EXPECT_TRUE(gateway.attach(session));
  gateway.poll(now);
  take_replies();
  return client;
}

void TestHost::take_replies() {
  while (true) {
    GatewayReply reply = gateway.take_reply();
    if (std::holds_alternative<std::monostate>(reply)) return;
    if (auto* b = std::get_if<ClientBroken>(&reply)) broken.push_back(*b);
    if (auto* d = std::get_if<ClientDetached>(&reply)) detached.push_back(d->client->id);
  }
}

TestPair::TestPair(TestHost::Config worker_config, TestHost::Config ps_config) {
  worker_config.name = "worker";
  worker_config.address = {1, 7471};
  ps_config.name = "ps";
  ps_config.address = {2, 7471};
  ps_config.incarnation = 2;
  worker = std::make_unique<TestHost>(worker_config, nullptr, now);
  ps = std::make_unique<TestHost>(ps_config, worker.get(), now);
  EXPECT_TRUE(run_until(
      [this] { return worker->endpoint.peer_is_up(PeerId(0)) && ps->endpoint.peer_is_up(PeerId(0)); }, 2s));
}

void TestPair::step(TestHost& host, TestHost& peer) {
  host.gateway.poll(now);
  std::array<uint8_t, 2048> buffer;
  while (const auto datagram = host.endpoint.next_datagram(now, buffer)) {
    if (cut) continue;
    flights_.push_back({&peer,
                        host.config.address,
                        {buffer.begin(), buffer.begin() + static_cast<ptrdiff_t>(datagram->size)}});
  }
  host.take_replies();
}

void TestPair::run(Duration span) {
  const Time end = now + span;
  while (now < end) {
    now += 50us;
    for (const Flight& flight : std::exchange(flights_, {}))
      flight.to->receive(now, flight.from, flight.bytes);
    if (worker) step(*worker, *ps);
    if (ps) step(*ps, *worker);
  }
}

void TestPair::carry() {
  std::array<uint8_t, 2048> buffer;
  while (const auto datagram = worker->endpoint.next_datagram(now, buffer)) {
    ps->receive(now, worker->config.address, ByteSpan(buffer).first(datagram->size));
  }
  while (const auto datagram = ps->endpoint.next_datagram(now, buffer)) {
    worker->receive(now, ps->config.address, ByteSpan(buffer).first(datagram->size));
  }
}

std::vector<tictac_event> TestPair::events(tictac_client* client, Duration span) {
  run(span);
  std::vector<tictac_event> all;
  tictac_event event;
  while (tictac_wait(client, &event, 1, 0) == 1) all.push_back(event);
  return all;
}

tictac_event TestPair::next(tictac_client* client, tictac_event_kind kind, Duration limit) {
  const Time end = now + limit;
  while (now < end) {
    tictac_event event;
    while (tictac_wait(client, &event, 1, 0) == 1) {
      if (event.kind == kind) return event;
    }
    run(50us);
  }
  ADD_FAILURE() << "no event of kind " << kind << " came";
  return {};
}

}  // namespace tictac::native
