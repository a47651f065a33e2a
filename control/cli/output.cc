#include "control/cli/output.h"

#include <cstdio>

#include "absl/strings/escaping.h"

namespace tictac::cli {

void print_json(const nlohmann::ordered_json& document) {
  std::printf("%s\n", document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
}

std::string printable(const std::string& text) { return absl::Utf8SafeCEscape(text); }

}  // namespace tictac::cli
