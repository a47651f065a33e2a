#include "control/replay/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace tictac::replay {

absl::StatusOr<TemporaryFolder> TemporaryFolder::make() {
  const char* base = std::getenv("TMPDIR");
  std::string path = absl::StrCat(base && *base ? base : "/tmp", "/tictac-XXXXXX");
  if (!mkdtemp(path.data()))
    return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno), "; set TMPDIR"));
  return TemporaryFolder(path);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace tictac::replay
