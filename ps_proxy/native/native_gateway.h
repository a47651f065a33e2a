#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "dataplane/base/clock.h"
#include "dataplane/base/spsc_ring.h"
#include "dataplane/runtime/lcore_task.h"
#include "dataplane/sched/scheduler.h"
#include "dataplane/transport/endpoint.h"
#include "ps_proxy/native/fetches.h"
#include "ps_proxy/native/gateway_mail.h"
#include "ps_proxy/native/job_registry.h"
#include "ps_proxy/native/requests.h"

namespace tictac::native {

// The gateway between applications of this host (tictac.h, over shared memory) and the endpoint. Lives on the
// lcore: reads the clients' rings, opens streams for their fetches, brings peers' requests to those who
// serve, and lets the endpoint copy straight between packets and arenas. All clients are taken to be hostile:
// what one may do wrong ends that one.
//
// The control thread reaches it through the runtime's Mailbox, and hears from it by take_reply().
class NativeGateway : public LcoreTask, public EndpointEvents {
 public:
  struct Config {
    uint32_t most_parked = 65536;  // requests without a server, per job
    size_t peer_count = 0;
    CompletionLog* log = nullptr;  // may be null; outlives the gateway
  };

  explicit NativeGateway(const Config& config);
  ~NativeGateway() override;

  // Before the first poll.
  void connect(Endpoint& endpoint, const Scheduler& scheduler);

  // Lcore: the control thread gets here through the runtime's Mailbox.
  // False: there are too many jobs; the client stays the caller's.
  bool attach(std::unique_ptr<ClientSession>& client);
  // The client's process has gone. ClientDetached hands it back when nothing uses it any more.
  void detach(uint64_t id);
  // Puts a schedule in force (null: none) and returns the one before, for the caller to destroy elsewhere.
  // New fetches use it at once; those under way are re-ranked by the next polls.
  std::unique_ptr<const RankTable> set_table(std::string_view job, std::unique_ptr<const RankTable> table);
  void take_snapshot(GatewaySnapshot& out) const;

  // Control thread. monostate when there is none. reply_fd() is readable when there may be some; take_reply
  // empties it.
  GatewayReply take_reply();
  int reply_fd() const { return reply_fd_.get(); }

  // LcoreTask
  size_t poll(Time now) override;
  Time next_deadline() const override;
  bool prepare_to_sleep() override;
  void resume() override;
  int wake_fd() const override { return epoll_.get(); }

  // EndpointEvents
  void on_peer_up(PeerId peer, const PeerUp& info) override;
  void on_peer_down(PeerId peer, PeerDownReason reason) override;
  TransferSink* on_open(StreamRef stream, const OpenParams& params) override;
  void on_abandoned(StreamRef stream, uint32_t code) override;

 private:
  using Clients = std::vector<std::unique_ptr<ClientSession>>;

  void reply(GatewayReply reply);
  void send_replies();

  // gateway_clients.cc
  size_t detach_some();
  bool abandon_names(ClientSession& client, size_t budget);
  void report_fault(ClientSession& client);
  void tell_peer(ClientSession& client, PeerId peer, bool up);

  // gateway_submissions.cc
  size_t take_submissions(Time now, ClientSession& client);
  // Runs the submission `at` entries behind the oldest of `available`. Returns the entries that it took; 0
  // when the client is at fault.
  uint32_t execute(Time now, ClientSession& client, const Submission& submission, uint32_t at,
                   uint32_t available);
  uint32_t register_name(ClientSession& client, const Submission& submission, uint32_t at,
                         uint32_t available);
  static ClientSession::Name* find_name(ClientSession& client, tictac_name_id id);

  Config config_;
  Endpoint* endpoint_ = nullptr;
  const Scheduler* scheduler_ = nullptr;
  JobRegistry jobs_;
  Fetches fetches_;
  Requests requests_;
  Clients clients_;
  Clients leaving_;
  std::vector<bool> peer_up_;
  Time now_{};
  uint64_t broken_clients_ = 0;
  bool any_congested_ = false;

  SpscRing<GatewayReply> replies_;
  std::vector<GatewayReply> unsent_;  // when replies_ was full
  Fd reply_fd_;                       // an eventfd that no client has
  Fd epoll_;                          // the clients' doorbells
};

}  // namespace tictac::native
