#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "ps_proxy/client/client_state.h"

using tictac::native::fail;
using tictac::native::Op;
using tictac::native::Submission;

namespace {

// Shows the pushed submissions to the proxy and wakes it if it sleeps. A doorbell that cannot be rung because
// it is full has been rung.
void publish(tictac_client& client) {
  if (!client.submissions.publish()) return;
  const char ring = 1;
  (void)send(client.doorbell.get(), &ring, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  ++client.counters.doorbells;
}

int submit(tictac_client& client, const Submission& submission) {
  client.submissions.push(submission);
  ++client.counters.submissions;
  publish(client);
  return TICTAC_OK;
}

// What every operation asks first.
int ready(tictac_client* client, uint32_t entries = 1) {
  if (client == nullptr) return fail(TICTAC_BAD_ARGUMENT, "client is null");
  if (client->gone) return fail(TICTAC_PROXY_GONE, "the proxy has gone; close this client and connect again");
  if (client->submissions.room() < entries) {
    return fail(TICTAC_FULL, "the proxy has not read the last submissions yet; take events, then try again");
  }
  return TICTAC_OK;
}

int check_name(const tictac_client& client, tictac_name_id name) {
  if (name < client.names.size()) return TICTAC_OK;
  return fail(TICTAC_BAD_ARGUMENT, "name " + std::to_string(name) + " was not registered (tictac_name)");
}

// Offset of [buffer, buffer + size) in the arena.
int locate(const tictac_client& client, const void* buffer, uint64_t size, uint64_t* offset) {
  *offset = 0;
  if (size == 0) return TICTAC_OK;
  const auto begin = reinterpret_cast<uintptr_t>(client.memory.data());
  const auto at = reinterpret_cast<uintptr_t>(buffer);
  if (at < begin || at - begin > client.arena.size() || size > client.arena.size() - (at - begin)) {
    return fail(TICTAC_BAD_ARGUMENT, "the buffer does not lie in the arena (tictac_alloc)");
  }
  *offset = at - begin;
  return TICTAC_OK;
}

int submit_for_name(tictac_client* client, tictac_name_id name, Op op) {
  if (const int status = ready(client)) return status;
  if (const int status = check_name(*client, name)) return status;
  return submit(*client, {.op = op, .name = name});
}

}  // namespace

void* tictac_alloc(tictac_client* client, uint64_t size) {
  if (client == nullptr) {
    fail(TICTAC_BAD_ARGUMENT, "client is null");
    return nullptr;
  }
  const auto offset = client->arena.allocate(size);
  if (!offset) {
    fail(TICTAC_NO_MEMORY, "no free piece of " + std::to_string(size) + " bytes; the largest has " +
                               std::to_string(client->arena.largest_free()) + " of an arena of " +
                               std::to_string(client->arena.size()) + " (options.arena_bytes)");
    return nullptr;
  }
  return client->memory.data() + *offset;
}

void tictac_free(tictac_client* client, void* buffer) {
  if (client == nullptr || buffer == nullptr) return;
  uint64_t offset = 0;
  if (locate(*client, buffer, 1, &offset) != TICTAC_OK) return;
  client->arena.release(offset);
}

int tictac_name(tictac_client* client, const char* name, tictac_name_id* id) {
  if (name == nullptr || id == nullptr) return fail(TICTAC_BAD_ARGUMENT, "name or id is null");
  const size_t length = std::strlen(name);
  if (length == 0 || length > TICTAC_MAX_NAME) {
    return fail(TICTAC_BAD_ARGUMENT, "a name has 1 to 1000 bytes, this one " + std::to_string(length));
  }
  const uint32_t entries = 1 + tictac::native::text_entries(static_cast<uint32_t>(length));
  if (client != nullptr) {
    if (const auto known = client->name_ids.find(name); known != client->name_ids.end()) {
      *id = known->second;
      return TICTAC_OK;
    }
  }
  if (const int status = ready(client, entries)) return status;
  if (client->names.size() >= tictac::native::kMostNames) {
    return fail(TICTAC_NO_MEMORY, "a client registers at most 262144 names");
  }
  *id = static_cast<tictac_name_id>(client->names.size());
  client->names.emplace_back(name);
  client->name_ids.emplace(name, *id);
  client->submissions.push(Submission{.op = Op::kName, .name = *id, .length = static_cast<uint32_t>(length)});
  for (size_t at = 0; at < length; at += tictac::native::kEntrySize) {
    tictac::native::TextEntry text{};
    std::memcpy(text.bytes, name + at, std::min(length - at, sizeof(text.bytes)));
    client->submissions.push(text);
  }
  ++client->counters.submissions;
  publish(*client);
  return TICTAC_OK;
}

const char* tictac_name_text(const tictac_client* client, tictac_name_id id) {
  return client != nullptr && id < client->names.size() ? client->names[id].c_str() : nullptr;
}

int tictac_fetch(tictac_client* client, tictac_name_id name, tictac_peer_id peer, void* buffer,
                 uint64_t capacity, uint64_t tag) {
  if (const int status = ready(client)) return status;
  if (const int status = check_name(*client, name)) return status;
  if (peer >= client->peers.size()) return fail(TICTAC_NO_SUCH_PEER, "no peer " + std::to_string(peer));
  uint64_t offset = 0;
  if (const int status = locate(*client, buffer, capacity, &offset)) return status;
  if (client->fetches.has(tag)) {
    return fail(TICTAC_BAD_ARGUMENT, "tag " + std::to_string(tag) + " is in use by a fetch under way");
  }
  if (client->fetches.full()) {
    return fail(TICTAC_FULL, "options.max_operations fetches are under way; take events, then try again");
  }
  const uint32_t slot = client->fetches.take(tag);
  return submit(*client, {.op = Op::kFetch,
                          .name = name,
                          .peer = peer,
                          .slot = slot,
                          .offset = offset,
                          .size = capacity,
                          .sequence = client->fetches.sequence(slot)});
}

int tictac_cancel(tictac_client* client, uint64_t tag) {
  if (const int status = ready(client)) return status;
  const uint32_t* slot = client->fetches.find(tag);
  if (slot == nullptr) return TICTAC_OK;
  return submit(*client, {.op = Op::kCancel, .slot = *slot, .sequence = client->fetches.sequence(*slot)});
}

int tictac_serve(tictac_client* client, tictac_name_id name) {
  return submit_for_name(client, name, Op::kServe);
}

int tictac_unserve(tictac_client* client, tictac_name_id name) {
  return submit_for_name(client, name, Op::kUnserve);
}

int tictac_answer(tictac_client* client, uint64_t request, const void* buffer, uint64_t size) {
  if (const int status = ready(client)) return status;
  uint64_t offset = 0;
  if (const int status = locate(*client, buffer, size, &offset)) return status;
  return submit(*client, {.op = Op::kAnswer, .offset = offset, .size = size, .request = request});
}

int tictac_decline(tictac_client* client, uint64_t request) {
  if (const int status = ready(client)) return status;
  return submit(*client, {.op = Op::kDecline, .request = request});
}
