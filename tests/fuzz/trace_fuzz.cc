// Any bytes as a trace of a small graph.
#include <cstdint>
#include <string>

#include "control/graph/load_graph.h"

namespace {

const char* const kGraph = R"(
node { name: "r" op: "_Recv" device: "/job:worker/task:0"
  attr { key: "tensor_name" value { s: "edge_1_w/read" } } attr { key: "send_device" value { s: "/job:ps/task:0" } } }
node { name: "m" op: "MatMul" device: "/job:worker/task:0" input: "r" }
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto graph = tictac::parse_graph(kGraph, {std::string(reinterpret_cast<const char*>(data), size)});
  if (graph.ok() && graph->ops[1].time < tictac::Duration(0)) __builtin_trap();
  return 0;
}
