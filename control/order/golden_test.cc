// The right answers that come with the recorded models and the made graphs (tests/data/README.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "control/graph/json_graph.h"
#include "control/graph/load_graph.h"
#include "control/order/order.h"
#include "control/order/simulator.h"
#include "nlohmann/json.hpp"

namespace tictac {
namespace {

using nlohmann::json;

const std::string kData = TICTAC_TEST_DATA;

json read_json(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return json::parse(file);
}

std::vector<std::string> names(const Order& order) {
  std::vector<std::string> list;
  for (const RankedRecv& recv : order.recvs) list.push_back(recv.name);
  return list;
}

Order order_of(const ModelGraph& graph, Policy policy, Rate bandwidth = Rate(1)) {
  auto order = compute_order(graph, {.policy = policy, .bandwidth = bandwidth});
  EXPECT_TRUE(order.ok()) << order.status();
  return *order;
}

int64_t makespan(const ModelGraph& graph, const Order& order, Rate bandwidth) {
  const auto ranks = ranks_of(graph, order, nullptr);
  EXPECT_TRUE(ranks.ok()) << ranks.status();
  return simulate(graph, *ranks, bandwidth).makespan.count();
}

class Model : public ::testing::TestWithParam<std::string> {};

TEST_P(Model, EqualsTheRecordedAnswers) {
  const std::string base = kData + "/models/" + GetParam();
  std::vector<std::string> traces;
  for (int run = 0; run < 5; ++run) traces.push_back(base + ".run" + std::to_string(run) + ".pb.gz");
  const auto graph = load_graph(base + ".worker_partition.pb.gz", traces);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const json expected = read_json(base + ".expected.json");
  EXPECT_EQ(graph->compute_time().count(), expected["compute_ns"].get<int64_t>());

  const Order tic = order_of(*graph, Policy::kTic);
  ASSERT_EQ(graph->recvs.size(), expected["recv"].size());
  for (size_t i = 0; i < graph->recvs.size(); ++i) {
    const json& want = expected["recv"][i];
    EXPECT_EQ(graph->recvs[i].name, want["name"].get<std::string>());
    EXPECT_EQ(graph->recvs[i].bytes, want["bytes"].get<uint64_t>());
    EXPECT_EQ(graph->recvs[i].edges, want["edges"].get<std::vector<uint64_t>>());
    const auto ranked = std::find_if(tic.recvs.begin(), tic.recvs.end(), [&](const RankedRecv& recv) {
      return recv.name == graph->recvs[i].name;
    });
    EXPECT_EQ(ranked->rank.value(), want["tic"].get<uint32_t>()) << graph->recvs[i].name;
  }
  for (const auto& [rate, want] : expected["bandwidth_bps"].items()) {
    const Rate bandwidth(std::stoull(rate));
    const Order tac = order_of(*graph, Policy::kTac, bandwidth);
    EXPECT_EQ(names(tac), want["tac_order"].get<std::vector<std::string>>());
    const json& spans = want["makespan_ns"];
    EXPECT_EQ(makespan(*graph, tic, bandwidth), spans["tic"].get<int64_t>());
    EXPECT_EQ(makespan(*graph, tac, bandwidth), spans["tac"].get<int64_t>());
    const Order file_order = order_of(*graph, Policy::kFifo);
    EXPECT_EQ(makespan(*graph, file_order, bandwidth), spans["graph_file_order"].get<int64_t>());
    EXPECT_EQ(makespan(*graph, order_of(*graph, Policy::kReverse), bandwidth),
              spans["reverse_file_order"].get<int64_t>());
    const Simulation simulation = simulate(*graph, *ranks_of(*graph, tic, nullptr), bandwidth);
    EXPECT_EQ(simulation.upper.count(), want["upper_ns"].get<int64_t>());
    EXPECT_EQ(simulation.lower.count(), want["lower_ns"].get<int64_t>());
    EXPECT_NEAR(simulation.efficiency, want["efficiency"]["tic"].get<double>(), 1e-6);
    EXPECT_LE(lower_bound(*graph, bandwidth), simulation.makespan);
  }
  const bool train = GetParam().ends_with("_train");
  EXPECT_EQ(graph->sends.empty(), !train);
  for (const SendTensor& send : graph->sends) EXPECT_GT(send.bytes, 0U) << send.wire_name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Model,
                         ::testing::Values("alexnet_v2_inference", "alexnet_v2_train",
                                           "inception_v1_inference", "inception_v1_train",
                                           "inception_v3_inference", "inception_v3_train",
                                           "resnet_v1_50_inference", "resnet_v1_50_train",
                                           "resnet_v2_50_inference", "resnet_v2_50_train", "vgg_16_inference",
                                           "vgg_16_train"),
                         [](const auto& p) { return p.param; });

TEST(RandomGraphs, EqualTheBruteForceAnswers) {
  const json graphs = read_json(kData + "/random_graphs/graphs.json");
  ASSERT_EQ(graphs.size(), 120U);
  for (size_t i = 0; i < graphs.size(); ++i) {
    SCOPED_TRACE(i);
    const json& want = graphs[i];
    const Rate bandwidth(want["bandwidth_bps"].get<uint64_t>());
    const auto graph = parse_json_graph(want["ops"].dump());
    ASSERT_TRUE(graph.ok()) << graph.status();
    const Order tic = order_of(*graph, Policy::kTic);
    for (const RankedRecv& recv : tic.recvs)
      EXPECT_EQ(recv.rank.value(), want["tic"][recv.name].get<uint32_t>());
    const Order tac = order_of(*graph, Policy::kTac, bandwidth);
    EXPECT_EQ(names(tac), want["tac"].get<std::vector<std::string>>());
    EXPECT_EQ(makespan(*graph, tic, bandwidth), want["makespan_ns"]["tic"].get<int64_t>());
    EXPECT_EQ(makespan(*graph, tac, bandwidth), want["makespan_ns"]["tac"].get<int64_t>());
    EXPECT_LE(lower_bound(*graph, bandwidth).count(), want["makespan_ns"]["best"].get<int64_t>());
  }
}

class Branchy : public ::testing::TestWithParam<std::string> {};

TEST_P(Branchy, EqualsTheKnownAnswers) {
  const json want = read_json(kData + "/branchy_graphs/" + GetParam() + ".json");
  const Rate bandwidth(want["bandwidth_bps"].get<uint64_t>());
  const auto graph = parse_json_graph(want["ops"].dump());
  ASSERT_TRUE(graph.ok()) << graph.status();
  const json& spans = want["makespan_ns"];
  const Order tic = order_of(*graph, Policy::kTic);
  for (const RankedRecv& recv : tic.recvs)
    EXPECT_EQ(recv.rank.value(), want["tic"][recv.name].get<uint32_t>());
  const Order tac = order_of(*graph, Policy::kTac, bandwidth);
  EXPECT_EQ(names(tac), want["tac"].get<std::vector<std::string>>());
  EXPECT_EQ(makespan(*graph, tic, bandwidth), spans["tic"].get<int64_t>());
  EXPECT_EQ(makespan(*graph, tac, bandwidth), spans["tac"].get<int64_t>());
  EXPECT_EQ(makespan(*graph, order_of(*graph, Policy::kFifo), bandwidth), spans["file"].get<int64_t>());
  EXPECT_EQ(makespan(*graph, order_of(*graph, Policy::kReverse), bandwidth), spans["reverse"].get<int64_t>());
  Order best;
  for (const json& name : want["best_order"]) {
    best.recvs.push_back({name.get<std::string>(), 0, Rank(static_cast<uint32_t>(best.recvs.size()))});
  }
  EXPECT_EQ(makespan(*graph, best, bandwidth), spans["best_known"].get<int64_t>());
  EXPECT_EQ(lower_bound(*graph, bandwidth).count(), want["lower_bound_ns"].get<int64_t>());
}

INSTANTIATE_TEST_SUITE_P(Made, Branchy,
                         ::testing::Values("dlrm", "layered", "multitask", "tied", "two_tower", "wide_deep"),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace tictac
