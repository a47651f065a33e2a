#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "dataplane/base/clock.h"
#include "dataplane/transport/endpoint.h"
#include "ps_proxy/native/client_session.h"
#include "ps_proxy/native/job_registry.h"
#include "ps_proxy/native/preamble.h"

namespace tictac::native {

// The requests of peers:
//
//   on_open -> parked (nobody serves) -> waiting (its client has no free slot) -> delivered -> answering ->
//   done
//
// and from every state to the end when the requester gives up, the peer is lost, or the serving client goes.
// What must call the endpoint from inside of one of its own calls is put off until run(). Lcore only.
class Requests : public RequestEvents {
 public:
  // `most_parked` of each job; also bounds the requests that wait for a slot.
  Requests(JobRegistry& jobs, uint32_t most_parked) : jobs_(jobs), most_parked_(most_parked) {}
  void use(Endpoint& endpoint) { endpoint_ = &endpoint; }

  void on_open(StreamRef stream, const OpenParams& params);
  void on_abandoned(StreamRef stream);
  // Refuses what on_open put off; returns how many.
  size_t run();

  // Submissions of an active client; the name is its own.
  void serve(ClientSession& client, ClientSession::Name& name, tictac_name_id id);
  static void unserve(ClientSession::Name& name);
  void answer(Time now, ClientSession& client, const Submission& submission);
  void decline(ClientSession& client, uint64_t id);
  // Hands waiting requests to the client while it has slots and takes events.
  void deliver_waiting(ClientSession& client);

  // The client goes: ends up to `budget` of its requests with TICTAC_APP_GONE, without events; false when
  // none is left.
  bool abandon(ClientSession& client, size_t budget);

  void on_request_done(Request& request, StreamEnd end, uint32_t code) override;
  uint64_t malformed() const { return malformed_; }

 private:
  struct Refusal {
    StreamRef stream;
    uint32_t code;
  };
  Request& make(StreamRef stream, NativeJob& job, const FetchPreamble& preamble);
  void destroy(Request& request);
  static bool goes_at_once(const Request& request);
  void route(Request& request);
  void deliver(Request& request);
  void park(Request& request);
  void unlink(Request& request);
  // Ends a request from this side: no event here, the requester gets `code`.
  void refuse(Request& request, uint32_t code);
  void push_event(const Request& request, tictac_event_kind kind, tictac_status status);

  JobRegistry& jobs_;
  const uint32_t most_parked_;
  Endpoint* endpoint_ = nullptr;
  std::deque<Request> pool_;  // stable addresses
  std::vector<Request*> free_;
  std::vector<std::vector<Request*>> by_stream_;  // [peer][slot of the stream]
  std::vector<Refusal> refusals_;
  uint64_t malformed_ = 0;
};

}  // namespace tictac::native
