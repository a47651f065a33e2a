#include "control/replay/executor.h"

#include <gtest/gtest.h>

#include <fstream>

#include "control/graph/json_graph.h"
#include "control/graph/load_graph.h"
#include "control/order/order.h"
#include "control/order/simulator.h"
#include "nlohmann/json.hpp"

namespace tictac::replay {
namespace {

const std::string kData = TICTAC_TEST_DATA;
constexpr Time kStart = Time(5s);

// The step that the executor makes of the arrivals that the simulator computes, looked at every `look`.
Duration replay(const ModelGraph& graph, const Order& order, Rate bandwidth, Duration look) {
  const auto ranks = *ranks_of(graph, order, nullptr);
  const Simulation simulation = simulate(graph, ranks, bandwidth);
  Executor executor(graph, 1);
  executor.start(kStart);
  Time arrival = kStart;
  size_t next = 0;
  Time now = kStart;
  Time end = kStart;
  while (!executor.finished()) {
    while (next < simulation.order.size()) {
      const Time when = arrival + transfer_time(graph.recvs[simulation.order[next]].bytes, bandwidth);
      if (when > now) break;
      executor.on_arrival(simulation.order[next++], when);
      arrival = when;
    }
    executor.advance(now, [&](uint32_t, Time when) { end = std::max(end, when); });
    if (look > Duration(0)) {
      now += look;
      continue;
    }
    Time wake = executor.next_deadline();
    if (next < simulation.order.size()) {
      wake = std::min(wake, arrival + transfer_time(graph.recvs[simulation.order[next]].bytes, bandwidth));
    }
    now = std::max(now, wake);
  }
  EXPECT_LE(end, executor.end());
  return executor.end() - kStart;
}

TEST(Executor, EqualsTheSimulatorOnEveryRandomGraph) {
  std::ifstream file(kData + "/random_graphs/graphs.json");
  const auto graphs = nlohmann::json::parse(file);
  for (const auto& one : graphs) {
    const Rate bandwidth(one["bandwidth_bps"].get<uint64_t>());
    const auto graph = parse_json_graph(one["ops"].dump());
    ASSERT_TRUE(graph.ok());
    const auto order = compute_order(*graph, {.policy = Policy::kTac, .bandwidth = bandwidth});
    EXPECT_EQ(replay(*graph, *order, bandwidth, Duration(0)).count(),
              one["makespan_ns"]["tac"].get<int64_t>());
  }
}

TEST(Executor, ARealModelLookedAtLateIsHardlyLater) {
  const std::string base = kData + "/models/inception_v1_inference";
  const auto graph = load_graph(base + ".worker_partition.pb.gz", {base + ".run0.pb.gz"});
  ASSERT_TRUE(graph.ok());
  const Rate bandwidth(3'000'000'000);
  const auto order = compute_order(*graph, {.policy = Policy::kTic});
  const Duration exact = replay(*graph, *order, bandwidth, Duration(0));
  EXPECT_EQ(exact, simulate(*graph, *ranks_of(*graph, *order, nullptr), bandwidth).makespan);
  const Duration late = replay(*graph, *order, bandwidth, 300us);
  EXPECT_LE(late, exact + exact / 50);
}

TEST(Executor, TimeScaleStretchesComputationOnly) {
  const auto graph =
      parse_json_graph(R"([{"name":"w","recv_bytes":1},{"name":"a","ns":1000,"inputs":["w"]}])");
  Executor executor(*graph, 2.5);
  executor.start(kStart);
  executor.on_arrival(0, kStart + 10ns);
  int ran = 0;
  executor.advance(kStart + 1ms, [&](uint32_t op, Time end) {
    EXPECT_EQ(op, 1U);
    EXPECT_EQ(end, kStart + 10ns + 2500ns);
    ++ran;
  });
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(executor.finished());
}

TEST(Executor, CanRunStepAfterStep) {
  const auto graph = parse_json_graph(R"([{"name":"w","recv_bytes":1},{"name":"a","ns":7,"inputs":["w"]}])");
  Executor executor(*graph, 1);
  for (int step = 0; step < 3; ++step) {
    const Time start = kStart + step * Duration(1s);
    executor.start(start);
    EXPECT_EQ(executor.next_deadline(), kNever);
    executor.on_arrival(0, start + 5ns);
    executor.advance(start + 1s, [](uint32_t, Time) {});
    EXPECT_EQ(executor.end(), start + 12ns);
  }
}

}  // namespace
}  // namespace tictac::replay
