#include "control/graph/load_graph.h"

#include <filesystem>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "control/graph/file_content.h"
#include "control/graph/json_graph.h"
#include "control/graph/tensorflow_graph.h"
#include "control/graph/tensorflow_trace.h"
#include "dataplane/base/error_place.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/text_format.h"

namespace tictac {
namespace {

constexpr size_t kNoTrace = std::numeric_limits<size_t>::max();

// Remembers the first fault of the text parser instead of printing it.
class FirstFault : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

bool is_graph(const tensorflow::GraphDef& graph) {
  for (const auto& node : graph.node()) {
    if (node.name().empty() || node.op().empty()) return false;
  }
  return graph.node_size() > 0;
}

absl::StatusOr<tensorflow::GraphDef> parse_text_graph(const std::string& content) {
  google::protobuf::TextFormat::Parser parser;
  FirstFault fault;
  parser.RecordErrorsTo(&fault);
  parser.AllowUnknownField(true);
  parser.AllowUnknownExtension(true);
  tensorflow::GraphDef graph;
  if (!parser.ParseFromString(content, &graph)) {
    return absl::InvalidArgumentError(absl::StrCat("not a GraphDef in text form: ", fault.text()));
  }
  if (!is_graph(graph)) return absl::InvalidArgumentError("holds no nodes");
  return graph;
}

// The partition with recvs from a PS; the first if there are several workers.
std::optional<tensorflow::GraphDef> worker_partition(const tensorflow::RunMetadata& run) {
  for (const tensorflow::GraphDef& graph : run.partition_graphs()) {
    const auto partition = build_partition(graph);
    if (partition.ok() && !partition->graph.recvs.empty()) return graph;
  }
  return std::nullopt;
}

bool looks_like_text(const std::string& content) {
  const size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return false;
  const char c = content[first];
  return (absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '#') && content[0] != '\n';
}

absl::StatusOr<tensorflow::GraphDef> parse_tensorflow_graph(const std::string& content) {
  if (looks_like_text(content)) return parse_text_graph(content);
  tensorflow::GraphDef graph;
  if (graph.ParseFromString(content) && is_graph(graph)) return graph;
  tensorflow::RunMetadata run;
  if (!run.ParseFromString(content)) {
    return absl::InvalidArgumentError(
        "no known graph format (a TensorFlow GraphDef or RunMetadata, or a JSON list of ops)");
  }
  if (auto partition = worker_partition(run)) return *std::move(partition);
  return absl::InvalidArgumentError(
      "holds no graph of a worker: record RunMetadata with output_partition_graphs, or give the partition");
}

absl::Status add_trace(const std::string& content, TensorflowTraces& traces) {
  tensorflow::RunMetadata run;
  if (!run.ParseFromString(content) || run.step_stats().dev_stats_size() == 0) {
    return absl::InvalidArgumentError("not a trace: a TensorFlow RunMetadata with step_stats is wanted");
  }
  traces.add_step(run.step_stats());
  return absl::OkStatus();
}

// `faulty_trace` names the trace at fault when one is.
absl::StatusOr<ModelGraph> parse_tensorflow(const std::string& content,
                                            const std::vector<std::string>& trace_contents,
                                            size_t* faulty_trace) {
  // What is tried as one message and turns out to be another makes Protobuf complain on stderr.
  const google::protobuf::LogSilencer quiet;
  const absl::StatusOr<tensorflow::GraphDef> graph_def = parse_tensorflow_graph(content);
  if (!graph_def.ok()) return graph_def.status();
  absl::StatusOr<TensorflowPartition> partition = build_partition(*graph_def);
  if (!partition.ok()) return partition.status();
  if (partition->graph.recvs.empty()) {
    return absl::InvalidArgumentError("no _Recv node from a PS: is it a worker's partition?");
  }
  TensorflowTraces traces(partition->devices);
  for (size_t i = 0; i < trace_contents.size(); ++i) {
    const absl::Status added = add_trace(trace_contents[i], traces);
    *faulty_trace = i;
    if (!added.ok()) return added;
  }
  *faulty_trace = kNoTrace;
  ModelGraph graph = std::move(partition->graph);
  if (trace_contents.empty())
    graph.warnings.emplace_back("no --trace: every op takes no time and every tensor no bytes");
  traces.apply(graph);
  return graph;
}

absl::StatusOr<ModelGraph> parse(const std::string& content, const std::vector<std::string>& traces,
                                 size_t* faulty_trace) {
  const size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return absl::InvalidArgumentError("is empty");
  const bool is_json = content[first] == '[' || content[first] == '{';
  if (is_json && !traces.empty())
    return absl::InvalidArgumentError("a JSON graph has its times inside; leave --trace out");
  absl::StatusOr<ModelGraph> graph =
      is_json ? parse_json_graph(content) : parse_tensorflow(content, traces, faulty_trace);
  if (!graph.ok()) return graph;
  const auto order = topological_order(*graph);
  if (!order.ok()) return order.status();
  return graph;
}

std::string model_of(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find('.'));
}

}  // namespace

absl::StatusOr<ModelGraph> parse_graph(const std::string& graph, const std::vector<std::string>& traces) {
  size_t faulty_trace = kNoTrace;
  return parse(graph, traces, &faulty_trace);
}

absl::StatusOr<ModelGraph> load_graph(const std::string& graph_path,
                                      const std::vector<std::string>& trace_paths) {
  const absl::StatusOr<std::string> content = read_content(graph_path);
  if (!content.ok()) return content.status();
  std::vector<std::string> traces;
  for (const std::string& path : trace_paths) {
    absl::StatusOr<std::string> trace = read_content(path);
    if (!trace.ok()) return trace.status();
    traces.push_back(*std::move(trace));
  }
  size_t faulty_trace = kNoTrace;
  absl::StatusOr<ModelGraph> graph = parse(*content, traces, &faulty_trace);
  if (!graph.ok())
    return at_place(faulty_trace == kNoTrace ? graph_path : trace_paths[faulty_trace], graph.status());
  graph->model = model_of(graph_path);
  return graph;
}

}  // namespace tictac
