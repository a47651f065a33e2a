// A small application on the native gateway, driven by tests:
//
//   native_app serve SOCKET JOB NAMES SIZE        answers every request for edge_0_t0/read .. with SIZE bytes
//   native_app fetch SOCKET JOB PEER NAMES SIZE ROUNDS [PAUSE_MS]   fetches all names in each round, after a
//   pause, and checks every byte
//
// Prints one JSON line for each thing a test waits for. Ends 0 when all was right.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "ps_proxy/client/tictac.hpp"

namespace {

using tictac::native::Buffer;
using tictac::native::Client;

uint8_t byte_of(uint64_t name, uint64_t offset) {
  return static_cast<uint8_t>(name * 131 + offset * 7 + offset / 251);
}

int fail(const char* what) {
  std::printf("{\"failed\":\"%s\",\"error\":\"%s\"}\n", what, tictac_error());
  return 1;
}

void say(const char* what) {
  std::printf("{\"event\":\"%s\"}\n", what);
  std::fflush(stdout);
}

std::string name_of(size_t i) { return "edge_" + std::to_string(i) + "_t" + std::to_string(i) + "/read"; }

std::vector<tictac_name_id> register_names(Client& client, size_t count) {
  std::vector<tictac_name_id> ids(count);
  for (size_t i = 0; i < count; ++i) {
    while (client.name(name_of(i), &ids[i]) == TICTAC_FULL) {
    }
  }
  return ids;
}

int serve(Client& client, size_t names, uint64_t size) {
  const auto ids = register_names(client, names);
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < names; ++i) {
    buffers.emplace_back(client, size);
    if (!buffers.back() && size > 0) return fail("alloc");
    for (uint64_t k = 0; k < size; ++k) buffers.back().data()[k] = byte_of(i, k);
    while (client.serve(ids[i]) == TICTAC_FULL) {
    }
  }
  say("serving");
  std::vector<tictac_event> events(256);
  while (true) {
    const int count = client.wait(events, -1);
    if (count == -TICTAC_PROXY_GONE) {
      say("proxy_gone");
      return 0;
    }
    if (count < 0) return fail("wait");
    for (int i = 0; i < count; ++i) {
      const tictac_event& event = events[static_cast<size_t>(i)];
      if (event.kind == TICTAC_EVENT_PEER_DOWN) say("peer_down");
      if (event.kind == TICTAC_EVENT_PEER_UP) say("peer_up");
      if (event.kind == TICTAC_EVENT_REQUEST_CANCELLED) say("request_cancelled");
      if (event.kind == TICTAC_EVENT_ANSWER_DONE && event.status != TICTAC_OK) say("answer_failed");
      if (event.kind != TICTAC_EVENT_REQUEST) continue;
      while (client.answer(event.request, buffers[event.name].span()) == TICTAC_FULL) {
      }
    }
  }
}

struct Rounds {
  int count = 1;
  std::chrono::milliseconds pause{0};
};

int fetch(Client& client, const std::string& peer_name, size_t names, uint64_t size, Rounds rounds) {
  tictac_peer_id peer = 0;
  if (client.peer(peer_name, &peer) != TICTAC_OK) return fail("peer");
  if (client.wait_peer(peer, 10'000'000'000) != TICTAC_OK) return fail("wait_peer");
  const auto ids = register_names(client, names);
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < names; ++i) buffers.emplace_back(client, size);
  say("fetching");
  const auto start = std::chrono::steady_clock::now();
  std::vector<tictac_event> events(256);
  std::vector<double> round_seconds;
  for (int round = 0; round < rounds.count; ++round) {
    std::this_thread::sleep_for(rounds.pause);
    const auto round_start = std::chrono::steady_clock::now();
    for (size_t i = 0; i < names; ++i) {
      std::memset(buffers[i].data(), 0, size);
      const int status = client.fetch(ids[i], peer, buffers[i].span(), i);
      if (status != TICTAC_OK) return fail("fetch");
    }
    for (size_t done = 0; done < names;) {
      const int count = client.wait(events, 20'000'000'000);
      if (count <= 0) return fail(count == 0 ? "timeout" : "wait");
      for (int i = 0; i < count; ++i) {
        const tictac_event& event = events[static_cast<size_t>(i)];
        if (event.kind == TICTAC_EVENT_PEER_DOWN) say("peer_down");
        if (event.kind != TICTAC_EVENT_COMPLETE) continue;
        if (event.status != TICTAC_OK) {
          say(tictac_status_text(event.status));
          return 3;
        }
        if (event.size != size) return fail("size");
        for (uint64_t k = 0; k < size; ++k) {
          if (buffers[event.tag].data()[k] != byte_of(event.tag, k)) return fail("content");
        }
        ++done;
      }
    }
    round_seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - round_start).count());
  }
  std::sort(round_seconds.begin(), round_seconds.end());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const auto counters = client.counters();
  std::printf(
      "{\"event\":\"done\",\"seconds\":%.6f,\"median_round_seconds\":%.6f,\"gbit_per_s\":%.3f,\"doorbells\":%"
      "llu,"
      "\"sleeps\":%llu}\n",
      took.count(), round_seconds[round_seconds.size() / 2],
      static_cast<double>(size * names) * rounds.count * 8e-9 / took.count(),
      static_cast<unsigned long long>(counters.doorbells), static_cast<unsigned long long>(counters.sleeps));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() < 5) return 2;
  const bool serving = args[0] == "serve";
  const size_t at = serving ? 3 : 4;
  const size_t names = std::stoul(args[at]);
  const uint64_t size = std::stoull(args[at + 1]);
  tictac_options options{};
  options.socket = args[1].c_str();
  options.application = args[0].c_str();
  options.job = args[2].c_str();
  options.arena_bytes = names * (size + 64) + 4096;
  Client client(options);
  if (!client) return fail("connect");
  say("connected");
  if (serving) return serve(client, names, size);
  Rounds rounds{.count = std::max(1, std::stoi(args.at(at + 2)))};
  if (args.size() > at + 3) rounds.pause = std::chrono::milliseconds(std::stoi(args[at + 3]));
  return fetch(client, args[3], names, size, rounds);
}
