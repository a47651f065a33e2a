#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tictac {

// Where EAL keeps its files of a prefix (lib/eal/unix/eal_filesystem.c: RUNTIME_DIRECTORY, /var/run for root,
// else XDG_RUNTIME_DIR, else /tmp).
std::string runtime_folder(std::string_view file_prefix);

// Says before EAL does, and in plain words, that the folder cannot be written or that a running process has
// the prefix.
absl::Status check_runtime_folder(std::string_view file_prefix);

}  // namespace tictac
