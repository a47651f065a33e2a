#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "control/graph/model_graph.h"

namespace tictac {

// Reads a graph, and the times and sizes in its traces. The format is told from the content, gzip or not:
//   graph: a worker's partition as TensorFlow GraphDef (binary or text), RunMetadata with partition graphs,
//          or JSON
//   traces: TensorFlow RunMetadata, one file a step; not with JSON, which has its times inside
// Errors name the file and, where there is one, the node. Same files, same answer.
absl::StatusOr<ModelGraph> load_graph(const std::string& graph_path,
                                      const std::vector<std::string>& trace_paths);

// The same from contents in memory, decompressed; messages do not name a file.
absl::StatusOr<ModelGraph> parse_graph(const std::string& graph, const std::vector<std::string>& traces);

}  // namespace tictac
