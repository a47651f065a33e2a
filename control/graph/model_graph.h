#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/units.h"

namespace tictac {

inline constexpr uint32_t kNoRecv = std::numeric_limits<uint32_t>::max();

// One operation of a worker's graph, at its place in the file.
struct Op {
  std::string name;
  Duration time{0};              // on the compute unit; recv ops take none
  bool timed = false;            // a trace (or the graph) says the time
  std::vector<uint32_t> inputs;  // indices of ops, control inputs too; those of a recv op are dropped
  uint32_t recv = kNoRecv;       // index into ModelGraph::recvs when the op receives a parameter
};

// A parameter that crosses from a PS to the worker: all recv ops of one name together.
struct RecvTensor {
  std::string name;             // canonical, see dataplane/base/tensor_name.h
  std::string wire_name;        // of the edge that carries the bytes
  uint64_t bytes = 0;           // sum over its edges
  std::vector<uint64_t> edges;  // numbers, ascending; empty in graphs without numbers
  uint64_t data_edge = 0;       // number of the edge that carries the bytes
};

// A tensor that the worker sends to a PS (a gradient) once `op` has run.
struct SendTensor {
  std::string wire_name;
  uint64_t bytes = 0;
  uint32_t op = 0;
};

// A worker's part of one step. Immutable once loaded; ops are in file order, recvs in the order of their
// first op.
struct ModelGraph {
  std::string model;  // of the file's name, for tables
  std::vector<Op> ops;
  std::vector<RecvTensor> recvs;
  std::vector<SendTensor> sends;
  std::vector<std::string> warnings;

  uint64_t recv_bytes() const;
  uint64_t send_bytes() const;
  Duration compute_time() const;
  // Time that all recvs take, each rounded down alone.
  Duration communication_time(Rate bandwidth) const;
  size_t timed_ops() const;  // recv ops are neither timed nor untimed
  size_t untimed_ops() const;
};

// Op indices so that each op comes after its inputs. An error names an op on a cycle.
absl::StatusOr<std::vector<uint32_t>> topological_order(const ModelGraph& graph);

}  // namespace tictac
