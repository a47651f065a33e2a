#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace tictac {

// Says before EAL does, and in plain words, that the folder where EAL keeps its files of a prefix cannot be
// written, or that a running process has the prefix.
absl::Status check_runtime_folder(std::string_view file_prefix);

}  // namespace tictac
