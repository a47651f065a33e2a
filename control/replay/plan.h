#pragma once

#include <string>
#include <vector>

#include "control/graph/model_graph.h"

namespace tictac::replay {

// What all processes of a replay share; made before they part.
struct Plan {
  ModelGraph graph;
  std::vector<std::string> jobs;  // one for each policy
  double time_scale = 1;
  std::string folder;     // of sockets and logs
  std::string ps_socket;  // native sockets of the two sidecars
  std::string worker_socket;
  std::string ps_name = "ps0";  // of the sidecars
  std::string worker_name = "worker0";
};

}  // namespace tictac::replay
