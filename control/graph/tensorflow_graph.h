#pragma once

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "control/graph/model_graph.h"
#include "control/graph/tensorflow.pb.h"

namespace tictac {

// A worker's partition as a ModelGraph, without times and sizes, and the devices that it runs on.
//
// Recv ops are `_Recv` and `_HostRecv` nodes whose send_device is a PS; nodes of one canonical name are one
// recv. Sends are `_Send` and `_HostSend` nodes whose recv_device is a PS. Inputs: `^` and `:k` are taken
// off. A NextIteration's edge into its loop is left out, with a warning, so that the graph has no cycle.
struct TensorflowPartition {
  ModelGraph graph;
  std::set<std::string> devices;
};
absl::StatusOr<TensorflowPartition> build_partition(const tensorflow::GraphDef& graph_def);

// "/job:ps/replica:0/task:1/device:CPU:0" is a PS's.
bool is_ps_device(const std::string& device);

}  // namespace tictac
