#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "ps_proxy/client/client_state.h"
#include "ps_proxy/client/hello.h"

using tictac::native::fail;

namespace {

constexpr int64_t kLookEvery = 10'000'000;  // ns between looks at the socket of a caller that never sleeps

int64_t clock_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

int64_t end_of(int64_t timeout_ns) {
  const int64_t now = clock_ns();
  const int64_t forever = std::numeric_limits<int64_t>::max();
  return timeout_ns < 0 || timeout_ns > forever - now ? forever : now + timeout_ns;
}

int take(tictac_client& client, tictac_event* events, int max) {
  const uint32_t count = std::min(client.events.available(), static_cast<uint32_t>(max));
  for (uint32_t i = 0; i < count; ++i) {
    auto event = client.events.peek<tictac_event>(i);
    if (event.kind == TICTAC_EVENT_COMPLETE) client.fetches.finish(event.reserved, &event.tag);
    event.reserved = 0;
    events[i] = event;
  }
  if (count > 0) client.events.release(count);
  client.counters.events += count;
  return static_cast<int>(count);
}

// Sleeps until the doorbell rings, the proxy goes, or `until`. A stray message on the socket (a late
// statistics reply) is thrown away.
void sleep_until(tictac_client& client, int64_t until) {
  std::array<pollfd, 2> fds{{{client.doorbell.get(), POLLIN, 0}, {client.socket.get(), POLLIN, 0}}};
  const int64_t left = until - clock_ns();
  timespec limit{left / 1'000'000'000, left % 1'000'000'000};
  if (left <= 0) limit = {0, 0};
  const bool forever = until == std::numeric_limits<int64_t>::max();
  if (ppoll(fds.data(), fds.size(), forever ? nullptr : &limit, nullptr) <= 0) return;
  std::array<char, 256> rings;
  if (fds[0].revents & POLLIN) (void)recv(client.doorbell.get(), rings.data(), rings.size(), MSG_DONTWAIT);
  if (fds[1].revents & (POLLHUP | POLLERR)) client.gone = true;
  if ((fds[1].revents & POLLIN) &&
      recv(client.socket.get(), rings.data(), rings.size(), MSG_DONTWAIT | MSG_TRUNC) == 0) {
    client.gone = true;
  }
}

// A caller that polls with a timeout of 0 must learn of the proxy's end too.
void look_at_socket_sometimes(tictac_client& client) {
  const int64_t now = clock_ns();
  if (now - client.looked_at_socket_ns < kLookEvery) return;
  client.looked_at_socket_ns = now;
  sleep_until(client, 0);
}

// Waits until `done` or the proxy is gone or the time is over.
template <typename Done>
void wait_until(tictac_client& client, int64_t until, Done done) {
  const int64_t spin_end = client.spin_ns > 0 ? std::min(until, clock_ns() + client.spin_ns) : 0;
  while (!done() && !client.gone) {
    const int64_t now = clock_ns();
    if (now >= until) return;
    if (now < spin_end) continue;
    if (!client.events.prepare_to_sleep()) {
      // Events are there. A caller that waits for something else sleeps all the same, but not for long.
      if (done()) return;
      sleep_until(client, std::min(until, now + 1'000'000));
      continue;
    }
    if (!done()) {
      ++client.counters.sleeps;
      sleep_until(client, until);
    }
    client.events.resume();
  }
}

}  // namespace

int tictac_wait(tictac_client* client, tictac_event* events, int max, int64_t timeout_ns) {
  if (client == nullptr || events == nullptr || max <= 0) {
    return -fail(TICTAC_BAD_ARGUMENT, "client or events is null, or max is not positive");
  }
  int count = take(*client, events, max);
  if (count == 0 && !client->gone) {
    if (timeout_ns == 0) {
      look_at_socket_sometimes(*client);
    } else {
      wait_until(*client, end_of(timeout_ns), [client] { return client->events.available() > 0; });
    }
    count = take(*client, events, max);
  }
  if (count == 0 && client->gone) {
    return -fail(TICTAC_PROXY_GONE, "the proxy has gone; close this client and connect again");
  }
  return count;
}

int tictac_peer(const tictac_client* client, const char* name, tictac_peer_id* id) {
  if (client == nullptr || name == nullptr || id == nullptr) {
    return fail(TICTAC_BAD_ARGUMENT, "client, name or id is null");
  }
  const auto found = std::find(client->peers.begin(), client->peers.end(), name);
  if (found == client->peers.end()) {
    std::string known;
    for (const std::string& peer : client->peers) known += (known.empty() ? "" : ", ") + peer;
    return fail(TICTAC_NO_SUCH_PEER, "the proxy has no peer \"" + std::string(name) + "\"; it has: " +
                                         (known.empty() ? "none (peers in its configuration)" : known));
  }
  *id = static_cast<tictac_peer_id>(found - client->peers.begin());
  return TICTAC_OK;
}

const char* tictac_peer_text(const tictac_client* client, tictac_peer_id id) {
  return client != nullptr && id < client->peers.size() ? client->peers[id].c_str() : nullptr;
}

uint32_t tictac_peer_count(const tictac_client* client) {
  return client == nullptr ? 0 : static_cast<uint32_t>(client->peers.size());
}

int tictac_peer_is_up(const tictac_client* client, tictac_peer_id id) {
  if (client == nullptr || id >= client->peers.size() || client->gone) return 0;
  return tictac::native::header_of(client->control.data())->peer_up[id].load(std::memory_order_acquire) != 0;
}

int tictac_wait_peer(tictac_client* client, tictac_peer_id id, int64_t timeout_ns) {
  if (client == nullptr) return fail(TICTAC_BAD_ARGUMENT, "client is null");
  if (id >= client->peers.size()) return fail(TICTAC_NO_SUCH_PEER, "no peer " + std::to_string(id));
  wait_until(*client, end_of(timeout_ns), [=] { return tictac_peer_is_up(client, id) != 0; });
  if (tictac_peer_is_up(client, id)) return TICTAC_OK;
  if (client->gone) return fail(TICTAC_PROXY_GONE, "the proxy has gone; close this client and connect again");
  return fail(TICTAC_TIMEOUT, "peer " + client->peers[id] + " is not connected; is its sidecar running?");
}

void tictac_counters(const tictac_client* client, tictac_client_counters* out) {
  if (client != nullptr && out != nullptr) *out = client->counters;
}
