#include "control/graph/tensorflow_trace.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/base/tensor_name.h"

namespace tictac {
namespace {

using tensorflow::NodeExecStats;

// "[512B] [1.5Mb/s] edge_562_NAME from A to B" -> "edge_562_NAME"
std::string edge_of_label(const std::string& label) {
  const size_t from = label.find(" from ");
  const size_t space = from == std::string::npos ? from : label.rfind(' ', from - 1);
  if (from == std::string::npos || from == 0) return {};
  const size_t begin = space == std::string::npos ? 0 : space + 1;
  return label.substr(begin, from - begin);
}

uint64_t requested_bytes(const NodeExecStats& row) {
  uint64_t sum = 0;
  for (const auto& output : row.output()) {
    sum += static_cast<uint64_t>(
        std::max<int64_t>(output.tensor_description().allocation_description().requested_bytes(), 0));
  }
  return sum;
}

}  // namespace

void TensorflowTraces::add_step(const tensorflow::StepStats& stats) {
  ++steps_;
  std::map<std::string, std::unordered_map<std::string, Duration>> step;  // by device, by node
  for (const auto& device : stats.dev_stats()) {
    const bool own = devices_.contains(device.device());
    for (const NodeExecStats& row : device.node_stats()) {
      if (row.node_name() == "RecvTensor") {
        add_recv_row(row);
      } else if (own) {
        const int64_t micros = std::max<int64_t>(row.op_end_rel_micros() - row.op_start_rel_micros(), 0);
        step[device.device()][row.node_name()] += micros * Duration(1us);
      }
    }
  }
  std::unordered_map<std::string, Duration> of_step;
  for (const auto& [device, nodes] : step) {
    for (const auto& [node, time] : nodes) of_step.emplace(node, time);
  }
  for (const auto& [node, time] : of_step) {
    const auto [place, is_new] = time_of_node_.emplace(node, time);
    if (!is_new) place->second = std::min(place->second, time);
  }
}

void TensorflowTraces::add_recv_row(const NodeExecStats& row) {
  const std::string edge = edge_of_label(row.timeline_label());
  if (edge.empty()) return;
  uint64_t& bytes = bytes_of_edge_[edge];
  bytes = std::max(bytes, requested_bytes(row));
}

void TensorflowTraces::apply(ModelGraph& graph) const {
  for (Op& op : graph.ops) {
    const auto found = time_of_node_.find(op.name);
    if (op.recv != kNoRecv || found == time_of_node_.end()) continue;
    op.time = found->second;
    op.timed = true;
  }
  std::vector<uint64_t> largest(graph.recvs.size());
  std::unordered_map<std::string, size_t> recv_of;
  for (size_t i = 0; i < graph.recvs.size(); ++i) recv_of.emplace(graph.recvs[i].name, i);
  for (const auto& [edge, bytes] : std::map(bytes_of_edge_.begin(), bytes_of_edge_.end())) {
    const TensorName name = parse_tensor_name(edge);
    const auto found = recv_of.find(std::string(name.canonical));
    if (found == recv_of.end()) continue;
    RecvTensor& recv = graph.recvs[found->second];
    const bool known = !name.edge || std::binary_search(recv.edges.begin(), recv.edges.end(), *name.edge);
    if (!known) continue;
    recv.bytes += bytes;
    if (bytes <= largest[found->second]) continue;
    largest[found->second] = bytes;
    recv.wire_name = edge;
    if (name.edge) recv.data_edge = *name.edge;
  }
  for (SendTensor& send : graph.sends) {
    const auto found = bytes_of_edge_.find(send.wire_name);
    if (found != bytes_of_edge_.end()) send.bytes = found->second;
  }
  if (steps_ == 0) return;
  const auto sizeless = std::count(largest.begin(), largest.end(), 0U);
  if (sizeless > 0) graph.warnings.push_back(absl::StrCat(sizeless, " recvs have no bytes in the traces"));
}

}  // namespace tictac
