#include "control/graph/tensorflow_graph.h"

#include <algorithm>
#include <unordered_map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/base/tensor_name.h"

namespace tictac {
namespace {

using tensorflow::NodeDef;

std::string attribute(const NodeDef& node, const char* key) {
  const auto found = node.attr().find(key);
  return found == node.attr().end() ? std::string() : found->second.s();
}

bool is_recv(const NodeDef& node) {
  return (node.op() == "_Recv" || node.op() == "_HostRecv") && is_ps_device(attribute(node, "send_device"));
}

bool is_send(const NodeDef& node) {
  return (node.op() == "_Send" || node.op() == "_HostSend") && is_ps_device(attribute(node, "recv_device"));
}

// "^a" and "a:1" are the node "a".
std::string node_of_input(const std::string& input) {
  const size_t begin = input.starts_with('^') ? 1 : 0;
  const size_t colon = input.rfind(':');
  uint32_t port = 0;
  const bool has_port = colon != std::string::npos && absl::SimpleAtoi(input.substr(colon + 1), &port);
  return input.substr(begin, has_port ? colon - begin : std::string::npos);
}

class Builder {
 public:
  explicit Builder(const tensorflow::GraphDef& graph_def) : graph_def_(graph_def) {}

  absl::StatusOr<TensorflowPartition> build() {
    for (const NodeDef& node : graph_def_.node()) {
      const absl::Status added = add_node(node);
      if (!added.ok()) return added;
    }
    for (int i = 0; i < graph_def_.node_size(); ++i) {
      const absl::Status connected = connect(static_cast<uint32_t>(i));
      if (!connected.ok()) return connected;
    }
    if (loops_ > 0) {
      graph().warnings.push_back(absl::StrCat(loops_, " loop edges (NextIteration) were left out"));
    }
    return std::move(partition_);
  }

 private:
  ModelGraph& graph() { return partition_.graph; }

  absl::Status add_node(const NodeDef& node) {
    const auto index = static_cast<uint32_t>(graph().ops.size());
    if (!index_of_.emplace(node.name(), index).second) {
      return absl::InvalidArgumentError(absl::StrCat("two nodes are named \"", node.name(), "\""));
    }
    Op op;
    op.name = node.name();
    if (!node.device().empty()) partition_.devices.insert(node.device());
    if (is_recv(node)) {
      const std::string wire_name = attribute(node, "tensor_name");
      if (wire_name.empty()) {
        return absl::InvalidArgumentError(absl::StrCat("node \"", node.name(), "\" has no tensor_name"));
      }
      op.recv = add_recv(wire_name);
    }
    graph().ops.push_back(std::move(op));
    return absl::OkStatus();
  }

  uint32_t add_recv(const std::string& wire_name) {
    const TensorName name = parse_tensor_name(wire_name);
    const auto [place, is_new] =
        recv_of_.emplace(std::string(name.canonical), static_cast<uint32_t>(graph().recvs.size()));
    if (is_new)
      graph().recvs.push_back({.name = std::string(name.canonical), .wire_name = wire_name, .edges = {}});
    RecvTensor& recv = graph().recvs[place->second];
    if (is_new && name.edge) recv.data_edge = *name.edge;
    if (name.edge)
      recv.edges.insert(std::lower_bound(recv.edges.begin(), recv.edges.end(), *name.edge), *name.edge);
    return place->second;
  }

  absl::Status connect(uint32_t index) {
    const NodeDef& node = graph_def_.node(static_cast<int>(index));
    Op& op = graph().ops[index];
    if (op.recv != kNoRecv) return absl::OkStatus();
    for (const std::string& input : node.input()) {
      const auto found = index_of_.find(node_of_input(input));
      if (found == index_of_.end()) {
        return absl::InvalidArgumentError(absl::StrCat("node \"", node.name(), "\" has an unknown input \"",
                                                       input, "\"; is the graph whole?"));
      }
      if (graph_def_.node(static_cast<int>(found->second)).op() == "NextIteration") {
        ++loops_;
      } else {
        op.inputs.push_back(found->second);
      }
    }
    if (is_send(node)) {
      graph().sends.push_back({.wire_name = attribute(node, "tensor_name"), .bytes = 0, .op = index});
    }
    return absl::OkStatus();
  }

  const tensorflow::GraphDef& graph_def_;
  TensorflowPartition partition_;
  std::unordered_map<std::string, uint32_t> index_of_;
  std::unordered_map<std::string, uint32_t> recv_of_;
  size_t loops_ = 0;
};

}  // namespace

bool is_ps_device(const std::string& device) {
  return absl::StartsWith(device, "/job:ps/") || absl::StartsWith(device, "/job:ps:");
}

absl::StatusOr<TensorflowPartition> build_partition(const tensorflow::GraphDef& graph_def) {
  return Builder(graph_def).build();
}

}  // namespace tictac
