#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "control/graph/model_graph.h"
#include "control/replay/options.h"
#include "control/replay/result.h"
#include "dataplane/base/units.h"

namespace tictac::replay {

// The link rate at which communication takes as long as computation.
Rate balanced_rate(const ModelGraph& graph, double time_scale, uint32_t mtu);

// Replays the graph's step under each policy in turn, over real sidecars that it starts and stops. Forks:
// call it before this process has threads.
absl::StatusOr<Result> replay(const ModelGraph& graph, const Options& options);

}  // namespace tictac::replay
