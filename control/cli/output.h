#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace tictac::cli {

// One JSON document and a newline on stdout; bytes that are no UTF-8 are replaced.
void print_json(const nlohmann::ordered_json& document);

// One "warning: ..." line each on stderr.
void print_warnings(const std::vector<std::string>& warnings);

// The text with control characters and bytes that are no UTF-8 escaped, safe for a terminal.
std::string printable(const std::string& text);

}  // namespace tictac::cli
