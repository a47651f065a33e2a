#include "dataplane/port/cable_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tictac {

absl::StatusOr<int> take_path(const DeviceArguments& device, const std::string& what) {
  const int fd = open(device.lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return absl::PermissionDeniedError(absl::StrCat(what, ": cannot open ", device.lock_path, ": ",
                                                    std::strerror(errno),
                                                    "; remove it, or choose another path in both sidecars"));
  }
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    return absl::AlreadyExistsError(
        absl::StrCat(what, ": in use by another process; `fuser ", device.lock_path, "` names it"));
  }
  struct stat found = {};
  if (lstat(device.stale_path.c_str(), &found) == 0) {
    if (!S_ISSOCK(found.st_mode)) {
      close(fd);
      return absl::AlreadyExistsError(absl::StrCat(what, ": there is a file that is no socket; remove it"));
    }
    unlink(device.stale_path.c_str());
  }
  return fd;
}

void end_accept(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::copy_n(path.begin(), std::min(path.size(), sizeof address.sun_path - 1), address.sun_path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  [[maybe_unused]] const int refused =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  close(fd);
}

}  // namespace tictac
