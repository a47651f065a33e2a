#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "control/graph/model_graph.h"

namespace tictac {

// Reads `[{"name":"op","inputs":["a"],"ns":1000},{"name":"p0","recv_bytes":4096,"inputs":[]}]`. A name is an
// op's and, for a recv, the tensor's wire name too (so `edge_NNN_` in it is its number). Errors name the byte
// or the op.
absl::StatusOr<ModelGraph> parse_json_graph(const std::string& content);

}  // namespace tictac
