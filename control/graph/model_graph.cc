#include "control/graph/model_graph.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tictac {

uint64_t ModelGraph::recv_bytes() const {
  uint64_t sum = 0;
  for (const RecvTensor& recv : recvs) sum += recv.bytes;
  return sum;
}

uint64_t ModelGraph::send_bytes() const {
  uint64_t sum = 0;
  for (const SendTensor& send : sends) sum += send.bytes;
  return sum;
}

Duration ModelGraph::compute_time() const {
  Duration sum{0};
  for (const Op& op : ops) sum += op.time;
  return sum;
}

Duration ModelGraph::communication_time(Rate bandwidth) const {
  Duration sum{0};
  for (const RecvTensor& recv : recvs) sum += transfer_time(recv.bytes, bandwidth);
  return sum;
}

size_t ModelGraph::timed_ops() const {
  return static_cast<size_t>(
      std::count_if(ops.begin(), ops.end(), [](const Op& op) { return op.recv == kNoRecv && op.timed; }));
}

size_t ModelGraph::untimed_ops() const {
  return static_cast<size_t>(
      std::count_if(ops.begin(), ops.end(), [](const Op& op) { return op.recv == kNoRecv && !op.timed; }));
}

absl::StatusOr<std::vector<uint32_t>> topological_order(const ModelGraph& graph) {
  const auto count = static_cast<uint32_t>(graph.ops.size());
  std::vector<uint32_t> missing(count);
  std::vector<std::vector<uint32_t>> users(count);
  std::vector<uint32_t> order;
  order.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    missing[i] = static_cast<uint32_t>(graph.ops[i].inputs.size());
    for (const uint32_t input : graph.ops[i].inputs) users[input].push_back(i);
    if (missing[i] == 0) order.push_back(i);
  }
  for (size_t next = 0; next < order.size(); ++next) {
    for (const uint32_t user : users[order[next]]) {
      if (--missing[user] == 0) order.push_back(user);
    }
  }
  if (order.size() == count) return order;
  const auto stuck = std::find_if(missing.begin(), missing.end(), [](uint32_t m) { return m > 0; });
  const Op& op = graph.ops[static_cast<size_t>(stuck - missing.begin())];
  return absl::InvalidArgumentError(
      absl::StrCat("node \"", op.name, "\" waits for itself: its inputs form a cycle"));
}

}  // namespace tictac
