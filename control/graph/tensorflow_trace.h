#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>

#include "control/graph/model_graph.h"
#include "control/graph/tensorflow.pb.h"

namespace tictac {

// Collects the traces of several steps and puts their times and sizes into a partition's graph.
//
// Time of an op: the sum of a step's rows of its node on one of the worker's devices (a loop runs it several
// times), then the least over the steps. Row: (op_end_rel_micros - op_start_rel_micros) * 1000, at least 0.
// Size of an edge: the largest requested_bytes over its RecvTensor rows, which are matched by the edge name
// in timeline_label.
class TensorflowTraces {
 public:
  explicit TensorflowTraces(const std::set<std::string>& worker_devices) : devices_(worker_devices) {}

  void add_step(const tensorflow::StepStats& stats);
  // Fills times, sizes and which edge carries the bytes; warns about recvs and sends without a size.
  void apply(ModelGraph& graph) const;

 private:
  void add_recv_row(const tensorflow::NodeExecStats& row);

  std::set<std::string> devices_;
  std::unordered_map<std::string, Duration> time_of_node_;
  std::unordered_map<std::string, uint64_t> bytes_of_edge_;
  size_t steps_ = 0;
};

}  // namespace tictac
