#include "ps_proxy/native/fetches.h"

#include <array>

#include "ps_proxy/native/preamble.h"

namespace tictac::native {
namespace {

FetchEnd end_of(StreamEnd end, uint64_t size, uint32_t code) {
  switch (end) {
    case StreamEnd::kComplete:
      return {TICTAC_OK, size};
    case StreamEnd::kStopped:
      return {TICTAC_CANCELLED, 0};
    case StreamEnd::kReset:
      return end_of_code(code);
    case StreamEnd::kPeerLost:
      return {TICTAC_PEER_LOST, 0};
  }
  return {TICTAC_PROTOCOL, 0};
}

}  // namespace

void Fetches::begin(Time now, ClientSession& client, NativeName& name, const Submission& submission) {
  Fetch* fetch = client.fetch(submission.slot);
  if (!fetch || fetch->active()) return client.give_up(ClientFault::kBadEntry);
  uint8_t* buffer = client.place(submission.offset, submission.size);
  if (!buffer) return client.give_up(ClientFault::kBadArena);
  fetch->events = this;
  fetch->client = &client;
  fetch->name = &name;
  fetch->buffer = buffer;
  fetch->capacity = submission.size;
  fetch->slot = submission.slot;
  fetch->sequence = submission.sequence;
  fetch->client_name = submission.name;
  const PeerId peer(static_cast<uint16_t>(submission.peer));
  fetch->stream = {.peer = peer};
  client.job->begin(*fetch, now);

  std::array<uint8_t, kMostFetchPreamble> buffer_of_preamble;
  fetch->stream = endpoint_->open(now, peer,
                                  {.job = client.job->name(),
                                   .rank = fetch->rank,
                                   .version = fetch->version,
                                   .request_class = TransferClass::kControl,
                                   .answer_class = TransferClass::kRanked,
                                   .preamble = encode({submission.size, name.text}, buffer_of_preamble)},
                                  nullptr, fetch);
  if (fetch->stream) return;
  fetch->stream.peer = peer;
  client.job->end(*fetch);
  complete(*fetch, endpoint_->peer_is_up(peer) ? TICTAC_FULL : TICTAC_PEER_DOWN, 0);
}

void Fetches::cancel(ClientSession& client, uint32_t slot, uint32_t sequence) {
  Fetch* fetch = client.fetch(slot);
  if (!fetch) return client.give_up(ClientFault::kBadEntry);
  if (fetch->active() && fetch->sequence == sequence) {
    endpoint_->cancel(fetch->stream, code_of(TICTAC_CANCELLED));
  }
}

size_t Fetches::rerank(NativeJob& job, size_t budget) {
  size_t done = 0;
  bool changed = false;
  for (; done < budget; ++done) {
    Fetch* fetch = job.next_stale(&changed);
    if (!fetch) break;
    if (changed) endpoint_->rerank(fetch->stream, fetch->rank, fetch->version);
  }
  return done;
}

bool Fetches::abandon(ClientSession& client, size_t budget) {
  while (client.detach_cursor < client.max_operations()) {
    Fetch& fetch = *client.fetch(client.detach_cursor);
    if (fetch.active()) {
      if (budget-- == 0) return true;
      endpoint_->cancel(fetch.stream, code_of(TICTAC_CANCELLED));
    }
    ++client.detach_cursor;
  }
  return false;
}

void Fetches::on_fetch_done(Fetch& fetch, StreamEnd end, uint64_t size, uint32_t code) {
  fetch.client->job->end(fetch);
  const FetchEnd result = end_of(end, size, code);
  complete(fetch, result.status, result.size);
}

void Fetches::complete(const Fetch& fetch, tictac_status status, uint64_t size) {
  ClientSession& client = *fetch.client;
  JobCounters& counters = client.job->counters;
  if (status == TICTAC_OK) {
    ++counters.fetches_complete;
    counters.bytes_fetched += size;
  } else {
    ++counters.fetches_failed;
  }
  if (log_) log_->add(now_, client.job->name(), fetch, status, size);
  if (client.detaching) return;
  client.push({.kind = TICTAC_EVENT_COMPLETE,
               .status = status,
               .tag = fetch.sequence,
               .size = size,
               .schedule_version = fetch.version.value(),
               .name = fetch.client_name,
               .peer = fetch.stream.peer.value(),
               .rank = fetch.rank.value(),
               .reserved = fetch.slot});
}

}  // namespace tictac::native
