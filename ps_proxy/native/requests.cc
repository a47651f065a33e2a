#include "ps_proxy/native/requests.h"

#include <utility>

namespace tictac::native {

void Requests::on_open(StreamRef stream, const OpenParams& params) {
  const auto preamble = decode_fetch(params.preamble);
  if (!preamble) {
    ++malformed_;
    refusals_.push_back({stream, code_of(TICTAC_PROTOCOL)});
    return;
  }
  NativeJob& job = jobs_.get(params.job);
  ++job.counters.requests;
  Request& request = make(stream, job, *preamble);
  if (goes_at_once(request) || job.counters.parked < most_parked_) return route(request);
  ++job.counters.requests_refused;
  refusals_.push_back({stream, code_of(TICTAC_PARKED_FULL)});
  destroy(request);
}

void Requests::on_abandoned(StreamRef stream) {
  if (stream.peer.value() >= by_stream_.size()) return;
  const auto& requests = by_stream_[stream.peer.value()];
  if (stream.slot >= requests.size()) return;
  Request* request = requests[stream.slot];
  // An abandoned stream ended for its opener or with the session; the session's end is told apart by the peer
  // being down already.
  if (!request || request->stream != stream) return;
  on_request_done(*request, endpoint_->peer_is_up(stream.peer) ? StreamEnd::kStopped : StreamEnd::kPeerLost,
                  0);
}

size_t Requests::run() {
  for (const Refusal& refusal : refusals_) endpoint_->cancel(refusal.stream, refusal.code);
  const size_t count = refusals_.size();
  refusals_.clear();
  return count;
}

Request& Requests::make(StreamRef stream, NativeJob& job, const FetchPreamble& preamble) {
  if (free_.empty()) free_.push_back(&pool_.emplace_back());
  Request& request = *free_.back();
  free_.pop_back();
  request.events = this;
  request.job = &job;
  request.name = &job.acquire(preamble.name);
  request.client = nullptr;
  request.stream = stream;
  request.room = preamble.room;
  request.buffer = nullptr;
  request.size = 0;
  if (by_stream_.size() <= stream.peer.value()) by_stream_.resize(stream.peer.value() + size_t{1});
  auto& requests = by_stream_[stream.peer.value()];
  if (requests.size() <= stream.slot) requests.resize(stream.slot + size_t{1});
  requests[stream.slot] = &request;
  return request;
}

// Forgets a request that has ended and is in no list.
void Requests::destroy(Request& request) {
  Request*& entry = by_stream_[request.stream.peer.value()][request.stream.slot];
  if (entry == &request) entry = nullptr;
  request.job->release(*request.name);
  request.state = Request::State::kFree;
  free_.push_back(&request);
}

bool Requests::goes_at_once(const Request& request) {
  const ClientSession* server = request.name->server;
  return server && server->has_free_slot() && !server->congested() && server->waiting.empty();
}

void Requests::route(Request& request) {
  ClientSession* server = request.name->server;
  if (!server) return park(request);
  request.client = server;
  request.client_name = request.name->server_name;
  if (goes_at_once(request)) return deliver(request);
  request.state = Request::State::kWaiting;
  server->waiting.push_back(request);
  ++request.job->counters.parked;
}

void Requests::deliver(Request& request) {
  request.state = Request::State::kDelivered;
  request.client->take_slot(request);
  push_event(request, TICTAC_EVENT_REQUEST, TICTAC_OK);
}

void Requests::park(Request& request) {
  request.state = Request::State::kParked;
  request.client = nullptr;
  request.name->parked.push_back(request);
  ++request.job->counters.parked;
}

// Takes the request out of whatever holds it.
void Requests::unlink(Request& request) {
  switch (request.state) {
    case Request::State::kFree:
      break;
    case Request::State::kParked:
      request.name->parked.remove(request);
      --request.job->counters.parked;
      break;
    case Request::State::kWaiting:
      request.client->waiting.remove(request);
      --request.job->counters.parked;
      break;
    case Request::State::kDelivered:
    case Request::State::kAnswering:
      request.client->free_slot(request);
      break;
  }
}

void Requests::deliver_waiting(ClientSession& client) {
  while (!client.waiting.empty() && client.has_free_slot() && !client.congested()) {
    Request& request = *client.waiting.front();
    unlink(request);
    deliver(request);
  }
}

void Requests::serve(ClientSession& client, ClientSession::Name& name, tictac_name_id id) {
  if (name.served) return;
  if (name.name->server) {
    client.push({.kind = TICTAC_EVENT_SERVE_REFUSED, .name = id, .peer = kNone});
    return;
  }
  name.served = true;
  name.name->server = &client;
  name.name->server_name = id;
  while (Request* request = name.name->parked.front()) {
    unlink(*request);
    route(*request);
  }
}

void Requests::unserve(ClientSession::Name& name) {
  if (!std::exchange(name.served, false)) return;
  name.name->server = nullptr;
  name.name->server_name = kNone;
}

void Requests::answer(Time now, ClientSession& client, const Submission& submission) {
  const uint8_t* buffer = client.place(submission.offset, submission.size);
  if (!buffer) return client.give_up(ClientFault::kBadArena);
  Request* request = client.find_request(submission.request);
  if (!request || request->state != Request::State::kDelivered) {
    // It ended while the answer was on its way: the buffer is free again at once.
    client.push({.kind = TICTAC_EVENT_ANSWER_DONE,
                 .status = TICTAC_CANCELLED,
                 .request = submission.request,
                 .name = kNone,
                 .peer = kNone});
    return;
  }
  request->buffer = buffer;
  request->size = submission.size;
  if (submission.size > request->room) {
    push_event(*request, TICTAC_EVENT_ANSWER_DONE, TICTAC_BUFFER_SMALL);
    return refuse(*request, code_of_too_large(submission.size));
  }
  request->state = Request::State::kAnswering;
  if (endpoint_->answer(now, request->stream, request)) return;
  push_event(*request, TICTAC_EVENT_ANSWER_DONE, TICTAC_CANCELLED);
  unlink(*request);
  destroy(*request);
}

void Requests::decline(ClientSession& client, uint64_t id) {
  Request* request = client.find_request(id);
  if (request && request->state == Request::State::kDelivered) refuse(*request, code_of(TICTAC_DECLINED));
}

// The endpoint may call on_done from inside of cancel(): a free request has no more to say.
void Requests::refuse(Request& request, uint32_t code) {
  ++request.job->counters.answers_failed;
  unlink(request);
  request.state = Request::State::kFree;
  endpoint_->cancel(request.stream, code);
  destroy(request);
}

bool Requests::abandon(ClientSession& client, size_t budget) {
  while (Request* request = client.waiting.front()) {
    if (budget-- == 0) return true;
    refuse(*request, code_of(TICTAC_APP_GONE));
  }
  for (uint32_t slot = client.next_request_slot(0); slot != kNone; slot = client.next_request_slot(slot)) {
    if (budget-- == 0) return true;
    refuse(*client.request_in(slot), code_of(TICTAC_APP_GONE));
  }
  return false;
}

void Requests::on_request_done(Request& request, StreamEnd end, uint32_t) {
  if (request.state == Request::State::kFree) return;
  JobCounters& counters = request.job->counters;
  const bool complete = end == StreamEnd::kComplete;
  const tictac_status status = complete                      ? TICTAC_OK
                               : end == StreamEnd::kPeerLost ? TICTAC_PEER_LOST
                                                             : TICTAC_CANCELLED;
  ++(complete ? counters.answers_complete : counters.answers_failed);
  if (complete) counters.bytes_answered += request.size;
  if (request.state == Request::State::kDelivered) {
    push_event(request, TICTAC_EVENT_REQUEST_CANCELLED, status);
  } else if (request.state == Request::State::kAnswering) {
    push_event(request, TICTAC_EVENT_ANSWER_DONE, status);
  }
  unlink(request);
  destroy(request);
}

void Requests::push_event(const Request& request, tictac_event_kind kind, tictac_status status) {
  if (request.client->detaching) return;
  request.client->push({.kind = static_cast<uint32_t>(kind),
                        .status = status,
                        .request = request.id,
                        .size = kind == TICTAC_EVENT_REQUEST ? request.room : request.size,
                        .name = request.client_name,
                        .peer = request.stream.peer.value()});
}

}  // namespace tictac::native
