#include "control/graph/load_graph.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "control/graph/file_content.h"
#include "control/graph/tensorflow.pb.h"

namespace tictac {
namespace {

namespace fs = std::filesystem;

const std::string kModel = TICTAC_TEST_DATA "/models/alexnet_v2_inference";

std::string recv(const std::string& node, const std::string& tensor,
                 const std::string& device = "/job:ps/task:0") {
  return "node { name: \"" + node +
         "\" op: \"_Recv\" device: \"/job:worker/task:0\" attr { key: \"tensor_name\" value { s: \"" +
         tensor + "\" } } attr { key: \"send_device\" value { s: \"" + device + "\" } } }\n";
}
std::string op(const std::string& node, const std::string& inputs = "", const std::string& type = "MatMul") {
  return "node { name: \"" + node + "\" op: \"" + type + "\" device: \"/job:worker/task:0\" " + inputs +
         " }\n";
}

void expect_fault(const std::string& content, const std::string& what) {
  const auto graph = parse_graph(content, {});
  ASSERT_FALSE(graph.ok()) << content;
  EXPECT_NE(graph.status().message().find(what), absl::string_view::npos) << graph.status();
}

TEST(ParseGraph, OneRunMetadataIsGraphAndTrace) {
  const std::string partition = *read_content(kModel + ".worker_partition.pb.gz");
  const std::string trace = *read_content(kModel + ".run0.pb.gz");
  tensorflow::RunMetadata run;
  ASSERT_TRUE(run.ParseFromString(trace));
  ASSERT_TRUE(run.add_partition_graphs()->ParseFromString(partition));
  const std::string both = run.SerializeAsString();
  testing::internal::CaptureStderr();
  const auto graph = parse_graph(both, {both});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto apart = parse_graph(partition, {trace});
  ASSERT_TRUE(apart.ok()) << apart.status();
  EXPECT_EQ(graph->recv_bytes(), apart->recv_bytes());
  EXPECT_EQ(graph->compute_time(), apart->compute_time());
}

TEST(ParseGraph, EdgesOfOneNameAreOneRecv) {
  const auto graph = parse_graph(
      recv("a", "edge_9_w/read") + recv("b", "edge_4_w/read") + op("m", "input: \"a\" input: \"^b:0\""), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->recvs.size(), 1U);
  EXPECT_EQ(graph->recvs[0].edges, (std::vector<uint64_t>{4, 9}));
  EXPECT_EQ(graph->ops[2].inputs, (std::vector<uint32_t>{0, 1}));
}

TEST(ParseGraph, OnlyRecvsFromAPsCount) {
  const auto graph =
      parse_graph(recv("a", "edge_1_w/read") + recv("b", "edge_2_x", "/job:worker/task:1"), {});
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->recvs.size(), 1U);
  expect_fault(recv("b", "edge_2_x", "/job:worker/task:1"), "no _Recv node from a PS");
}

TEST(ParseGraph, LoopEdgesAreLeftOutAndTold) {
  const auto graph =
      parse_graph(recv("a", "edge_1_w") + op("merge", "input: \"a\" input: \"next\"", "Merge") +
                      op("next", "input: \"merge\"", "NextIteration"),
                  {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_FALSE(graph->warnings.empty());
  EXPECT_NE(graph->warnings[0].find("loop"), std::string::npos);
}

TEST(ParseGraph, FaultsNameTheNode) {
  expect_fault(recv("a", "edge_1_w") + op("x", "input: \"y\"") + op("y", "input: \"x\""),
               "\"x\" waits for itself");
  expect_fault(recv("a", "edge_1_w") + op("x", "input: \"gone\""), "\"x\" has an unknown input \"gone\"");
  expect_fault(recv("a", "edge_1_w") + op("a"), "two nodes are named \"a\"");
  expect_fault(recv("a", ""), "\"a\" has no tensor_name");
  expect_fault("node { name: ", "line 1");
  expect_fault("", "is empty");
  expect_fault(" \n", "is empty");
  expect_fault("\x01\x02\x03", "no known graph format");
}

TEST(ParseGraph, JsonFaultsNameTheOp) {
  expect_fault("[{\"name\":\"a\"", "not JSON: parse error at line 1");
  expect_fault("{}", "list of ops");
  expect_fault("[1]", "op 0");
  expect_fault(R"([{"name":"a","ns":-1}])", "\"ns\" must be an integer");
  expect_fault(R"([{"name":"a","ns":1.5}])", "\"ns\" must be an integer");
  expect_fault(R"([{"name":"a","nanos":1}])", "unknown key \"nanos\"");
  expect_fault(R"([{"name":"a"},{"name":"a"}])", "\"a\" is taken");
  expect_fault(R"([{"name":"a","inputs":["b"]}])", "unknown input \"b\"");
  expect_fault(R"([{"name":"a","inputs":["a"]}])", "waits for itself");
  expect_fault(R"([{"name":"a","ns":1,"recv_bytes":1}])", "both");
}

TEST(ParseGraph, TextAndBinaryAreTheSame) {
  const auto binary = read_content(kModel + ".worker_partition.pb.gz");
  ASSERT_TRUE(binary.ok());
  const auto graph = parse_graph(*binary, {});
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->recvs.size(), load_graph(kModel + ".worker_partition.pb.gz", {})->recvs.size());
}

class LoadGraph : public ::testing::Test {
 protected:
  LoadGraph() : folder_(fs::temp_directory_path() / ("tictac-load-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~LoadGraph() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  fs::path folder_;
};

TEST_F(LoadGraph, FaultsNameTheFile) {
  const std::string raw = [] {
    std::ifstream file(kModel + ".worker_partition.pb.gz", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  const std::string cut = write("cut.gz", raw.substr(0, raw.size() / 2));
  std::string flipped_bytes = raw;
  flipped_bytes[raw.size() / 2] = static_cast<char>(flipped_bytes[raw.size() / 2] ^ 0x55);
  const std::string flipped = write("flipped.gz", flipped_bytes);
  const std::string graph = kModel + ".worker_partition.pb.gz";
  const std::string no_trace = write("trace", "nonsense");
  mkfifo((folder_ / "fifo").c_str(), 0600);
  for (const auto& [path, trace, named] :
       std::vector<std::array<std::string, 3>>{{cut, "", cut},
                                               {flipped, "", flipped},
                                               {folder_, "", folder_},
                                               {folder_ / "fifo", "", "not a regular file"},
                                               {folder_ / "none", "", "No such file"},
                                               {graph, no_trace, no_trace},
                                               {graph, graph, "not a trace"}}) {
    const auto loaded =
        load_graph(path, trace.empty() ? std::vector<std::string>{} : std::vector<std::string>{trace});
    ASSERT_FALSE(loaded.ok()) << path;
    EXPECT_NE(loaded.status().message().find(named), absl::string_view::npos) << loaded.status();
  }
}

TEST_F(LoadGraph, AGzipBombIsRefused) {
  const std::string content(8 << 20, 'x');
  const std::string plain = write("plain", content);
  EXPECT_FALSE(read_content(plain, 1 << 20).ok());
  ASSERT_EQ(std::system(("gzip -kf " + plain).c_str()), 0);
  EXPECT_FALSE(read_content(plain + ".gz", 1 << 20).ok());
  EXPECT_EQ(*read_content(plain + ".gz", 16 << 20), content);
}

TEST_F(LoadGraph, SameFilesSameAnswer) {
  const auto a =
      load_graph(kModel + ".worker_partition.pb.gz", {kModel + ".run0.pb.gz", kModel + ".run1.pb.gz"});
  const auto b =
      load_graph(kModel + ".worker_partition.pb.gz", {kModel + ".run1.pb.gz", kModel + ".run0.pb.gz"});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->compute_time(), b->compute_time());
  for (size_t i = 0; i < a->recvs.size(); ++i) EXPECT_EQ(a->recvs[i].wire_name, b->recvs[i].wire_name);
}

}  // namespace
}  // namespace tictac
