#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/base/clock.h"
#include "dataplane/transport/endpoint.h"
#include "ps_proxy/native/client_session.h"
#include "ps_proxy/native/completion_log.h"
#include "ps_proxy/native/native_job.h"

namespace tictac::native {

// The fetches of this host's clients: from submission through the endpoint to the COMPLETE event. Lcore only.
class Fetches : public FetchEvents {
 public:
  // `log` may be null.
  explicit Fetches(CompletionLog* log) : log_(log) {}
  void use(Endpoint& endpoint) { endpoint_ = &endpoint; }
  // The time that log lines get.
  void set_now(Time now) { now_ = now; }

  // A submission of an active client, its name and peer already checked. Every begin() that does not find the
  // client at fault ends in one COMPLETE event, at once if the peer is down.
  void begin(Time now, ClientSession& client, NativeName& name, const Submission& submission);
  void cancel(ClientSession& client, uint32_t slot, uint32_t sequence);

  // Gives up to `budget` fetches of the job the rank of the order in force; returns how many were looked at.
  size_t rerank(NativeJob& job, size_t budget);

  // The client goes: ends up to `budget` of its fetches, without events; false when none is left.
  bool abandon(ClientSession& client, size_t budget);

  void on_fetch_done(Fetch& fetch, StreamEnd end, uint64_t size, uint32_t code) override;

 private:
  void complete(const Fetch& fetch, tictac_status status, uint64_t size);

  CompletionLog* log_;
  Endpoint* endpoint_ = nullptr;
  Time now_{};
};

}  // namespace tictac::native
