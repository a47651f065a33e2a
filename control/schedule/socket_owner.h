#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tictac {

// Longest path of a Unix socket, without the terminating zero (sun_path).
inline constexpr size_t kMostSocketPath = 107;

// The right to serve on a socket path. Held by a lock file beside it (PATH.lock), which the kernel frees when
// the process dies, so a stopped owner keeps its socket and a killed one does not. Of two starters exactly
// one wins.
class SocketOwner {
 public:
  // Takes the right and clears a stale socket away. Refused, each with its cure: a path that is too long, a
  // missing or unwritable folder, something at the path that is no socket, another owner, a live foreign
  // server.
  static absl::StatusOr<SocketOwner> claim(const std::string& path);

  SocketOwner(SocketOwner&& other) noexcept;
  SocketOwner& operator=(SocketOwner&&) = delete;
  // Removes the socket if it is still the one that note_bound() saw.
  ~SocketOwner();

  // The server has bound the path: remember which file that is.
  void note_bound();
  const std::string& path() const { return path_; }

 private:
  SocketOwner(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}

  std::string path_;
  int lock_fd_ = -1;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

// The folder for sockets of this user when none is named: /run/tictac for root, else $XDG_RUNTIME_DIR/tictac
// or /tmp/tictac-UID. make_runtime_folder makes it, mode 0700.
std::string runtime_folder();
absl::Status make_runtime_folder(const std::string& folder);

}  // namespace tictac
