#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "ps_proxy/native/gateway_mail.h"

namespace tictac::native {

// The snapshot as JSON; README.md of ps_proxy lists the keys. Names that are no UTF-8 get replacement
// characters.
nlohmann::json to_json(const GatewaySnapshot& snapshot, const std::vector<std::string>& peers);

}  // namespace tictac::native
