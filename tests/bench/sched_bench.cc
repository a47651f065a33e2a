// The cost of naming the next transfer, taking it out and putting another in: what happens once a transfer.
// The rivals are the containers one would take from the library; they know neither jobs, peers, classes,
// re-ranking nor rates. They order by (rank, arrival), so equal ranks leave in order of arrival here too.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "dataplane/sched/scheduler.h"

using namespace tictac;

namespace {

constexpr uint32_t kPacket = 1400;
constexpr uint32_t kSeed = 7;

// Ranks of the transfers in the queue, and of those that come after them.
std::vector<uint32_t> draw_ranks(const benchmark::State& state) {
  std::mt19937 random(kSeed);
  std::uniform_int_distribution<uint32_t> rank(0, static_cast<uint32_t>(state.range(1)) - 1);
  std::vector<uint32_t> ranks(static_cast<size_t>(state.range(0)) * 4 + 4096);
  for (uint32_t& r : ranks) r = rank(random);
  return ranks;
}

// One job, one peer: all transfers compete by rank.
struct Ours {
  explicit Ours(const benchmark::State& state, uint16_t jobs = 1, uint16_t peers = 1)
      : ranks(draw_ranks(state)), nodes(static_cast<size_t>(state.range(0))) {
    for (uint16_t p = 0; p < peers; ++p) scheduler.add_peer(PeerId(p));
    for (uint16_t j = 0; j < jobs; ++j) scheduler.add_job(JobId(j), 1);
    for (size_t i = 0; i < nodes.size(); ++i) {
      nodes[i].rank = Rank(ranks[i]);
      nodes[i].job = JobId(static_cast<uint16_t>(i % jobs));
      nodes[i].peer = PeerId(static_cast<uint16_t>(i / jobs % peers));
      scheduler.set_ready(nodes[i]);
    }
    next = nodes.size();
  }
  uint32_t next_rank() { return ranks[next++ % ranks.size()]; }

  std::vector<uint32_t> ranks;
  std::vector<TransferNode> nodes;
  Scheduler scheduler{{}};
  size_t next = 0;
};

// A packet of a transfer that goes on.
void ours_packet(benchmark::State& state) {
  Ours ours(state);
  for (auto _ : state) {
    TransferNode* node = ours.scheduler.pick(Time{});
    benchmark::DoNotOptimize(node);
    ours.scheduler.commit(*node, kPacket);
  }
}

// A packet when four jobs go to eight peers.
void ours_packet_of_many(benchmark::State& state) {
  Ours ours(state, 4, 8);
  for (auto _ : state) {
    TransferNode* node = ours.scheduler.pick(Time{});
    benchmark::DoNotOptimize(node);
    ours.scheduler.commit(*node, kPacket);
  }
}

// A transfer of one packet leaves, another with another rank comes.
void ours_transfer(benchmark::State& state) {
  Ours ours(state);
  for (auto _ : state) {
    TransferNode* node = ours.scheduler.pick(Time{});
    ours.scheduler.commit(*node, kPacket);
    ours.scheduler.set_idle(*node);
    node->rank = Rank(ours.next_rank());
    ours.scheduler.set_ready(*node);
  }
}

using Key = std::pair<uint32_t, uint64_t>;  // rank, arrival

void priority_queue_transfer(benchmark::State& state) {
  const std::vector<uint32_t> ranks = draw_ranks(state);
  std::priority_queue<Key, std::vector<Key>, std::greater<>> queue;
  uint64_t arrival = 0;
  while (arrival < static_cast<uint64_t>(state.range(0))) queue.emplace(ranks[arrival], arrival), ++arrival;
  for (auto _ : state) {
    benchmark::DoNotOptimize(queue.top());
    queue.pop();
    queue.emplace(ranks[arrival % ranks.size()], arrival);
    ++arrival;
  }
}

void map_transfer(benchmark::State& state) {
  const std::vector<uint32_t> ranks = draw_ranks(state);
  std::map<Key, uint64_t> queue;
  uint64_t arrival = 0;
  while (arrival < static_cast<uint64_t>(state.range(0)))
    queue.emplace(Key(ranks[arrival], arrival), arrival), ++arrival;
  for (auto _ : state) {
    benchmark::DoNotOptimize(queue.begin()->second);
    queue.erase(queue.begin());
    queue.emplace(Key(ranks[arrival % ranks.size()], arrival), arrival);
    ++arrival;
  }
}

// Any transfer in the queue gets another rank: what a new schedule does. A heap cannot.
void ours_rerank(benchmark::State& state) {
  Ours ours(state);
  for (auto _ : state) {
    TransferNode& node = ours.nodes[ours.next % ours.nodes.size()];
    ours.scheduler.rerank(node, Rank(ours.next_rank()), ScheduleVersion(0));
  }
}

void map_rerank(benchmark::State& state) {
  const std::vector<uint32_t> ranks = draw_ranks(state);
  std::map<Key, size_t> queue;
  std::vector<Key> key_of(static_cast<size_t>(state.range(0)));
  uint64_t arrival = 0;
  for (Key& key : key_of) {
    key = {ranks[arrival], arrival};
    queue.emplace(key, arrival++);
  }
  for (auto _ : state) {
    const size_t which = arrival % key_of.size();
    queue.erase(key_of[which]);
    key_of[which] = {ranks[arrival % ranks.size()], arrival};
    queue.emplace(key_of[which], which);
    ++arrival;
  }
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"queued", "ranks"});
  bench->Args({1, 1})->Args({100, 100})->Args({1000, 4096})->Args({10'000, 1})->Args({10'000, 4096});
}

}  // namespace

BENCHMARK(ours_packet)->Name("ours/packet")->Apply(sizes);
BENCHMARK(ours_packet_of_many)->Name("ours/packet_4_jobs_8_peers")->Args({1000, 4096})->Args({10'000, 4096});
BENCHMARK(ours_transfer)->Name("ours/transfer")->Apply(sizes);
BENCHMARK(priority_queue_transfer)->Name("priority_queue/transfer")->Apply(sizes);
BENCHMARK(map_transfer)->Name("map/transfer")->Apply(sizes);
BENCHMARK(ours_rerank)->Name("ours/rerank")->Apply(sizes);
BENCHMARK(map_rerank)->Name("map/rerank")->Apply(sizes);

BENCHMARK_MAIN();
