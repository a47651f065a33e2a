// Any bytes as a graph: TensorFlow binary or text, RunMetadata, JSON.
#include <cstdint>
#include <string>

#include "control/graph/load_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto graph = tictac::parse_graph(std::string(reinterpret_cast<const char*>(data), size), {});
  if (graph.ok() && !tictac::topological_order(*graph).ok()) __builtin_trap();
  return 0;
}
