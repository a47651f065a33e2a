#pragma once

#include <string>

#include "control/replay/result.h"
#include "nlohmann/json.hpp"

namespace tictac::replay {

// The contract of `tictac replay --json`, with predicted_gain and gain_interval beside gain_over_random.
nlohmann::ordered_json to_json(const Result& result);

// The same as a table for people; what the flip showed below it.
std::string to_table(const Result& result);

}  // namespace tictac::replay
