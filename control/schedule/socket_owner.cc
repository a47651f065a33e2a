#include "control/schedule/socket_owner.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace tictac {
namespace {

absl::Status refuse(const std::string& path, absl::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", why));
}

// Whether somebody accepts there. A full backlog (a stopped server) is somebody too: only a refusal proves
// that nobody is left.
bool is_served(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return true;
  const absl::Cleanup close_fd = [fd] { close(fd); };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int connected = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return connected == 0 || errno != ECONNREFUSED;
}

absl::Status clear_stale(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? absl::OkStatus() : refuse(path, std::strerror(errno));
  }
  if (!S_ISSOCK(info.st_mode))
    return refuse(path, "is there and is no socket; move it away or name another path");
  if (is_served(path)) return refuse(path, "another server listens there; stop it or name another path");
  return unlink(path.c_str()) == 0 ? absl::OkStatus() : refuse(path, std::strerror(errno));
}

}  // namespace

absl::StatusOr<SocketOwner> SocketOwner::claim(const std::string& path) {
  if (path.empty() || path.size() > kMostSocketPath) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": a socket's path has 1 to ", kMostSocketPath,
                                                   " bytes, this one ", path.size(), "; name a shorter one"));
  }
  const std::string lock_path = absl::StrCat(path, ".lock");
  const int fd = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return refuse(lock_path, absl::StrCat("cannot be made: ", std::strerror(errno)));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    return refuse(path, "another process serves there; stop it or name another path");
  }
  SocketOwner owner(path, fd);
  const absl::Status cleared = clear_stale(path);
  if (!cleared.ok()) return cleared;
  return owner;
}

SocketOwner::SocketOwner(SocketOwner&& other) noexcept
    : path_(std::move(other.path_)),
      lock_fd_(std::exchange(other.lock_fd_, -1)),
      device_(other.device_),
      inode_(std::exchange(other.inode_, 0)) {}

void SocketOwner::note_bound() {
  struct stat info {};
  if (lstat(path_.c_str(), &info) != 0) return;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

SocketOwner::~SocketOwner() {
  if (lock_fd_ < 0) return;
  struct stat info {};
  const bool ours =
      inode_ != 0 && lstat(path_.c_str(), &info) == 0 && info.st_ino == inode_ && info.st_dev == device_;
  if (ours) unlink(path_.c_str());
  // The lock file stays: removing it would let two starters lock two different files.
  close(lock_fd_);
}

std::string runtime_folder() {
  if (geteuid() == 0) return "/run/tictac";
  const char* xdg = std::getenv("XDG_RUNTIME_DIR");
  if (xdg && *xdg == '/') return absl::StrCat(xdg, "/tictac");
  return absl::StrCat("/tmp/tictac-", geteuid());
}

absl::Status make_runtime_folder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) == 0) return absl::OkStatus();
  struct stat info {};
  if (errno == EEXIST && lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
      info.st_uid == geteuid()) {
    return absl::OkStatus();
  }
  return refuse(folder, absl::StrCat("cannot be made or belongs to another user: ", std::strerror(errno)));
}

}  // namespace tictac
