#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace tictac::replay {

// A folder in $TMPDIR that goes away with all that is in it.
class TemporaryFolder {
 public:
  static absl::StatusOr<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace tictac::replay
