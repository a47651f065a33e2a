#include "dataplane/port/runtime_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace tictac {
namespace {

// As lib/eal/unix/eal_filesystem.c has it.
std::string base_folder() {
  if (const char* given = std::getenv("RUNTIME_DIRECTORY")) return given;
  if (getuid() == 0) return "/var/run";
  if (const char* given = std::getenv("XDG_RUNTIME_DIR")) return given;
  return "/tmp";
}

absl::Status no_rights(const std::string& folder) {
  return absl::PermissionDeniedError(absl::StrCat(
      "cannot write ", folder, ": ", std::strerror(errno),
      "; set XDG_RUNTIME_DIR to a folder of this user, say: export XDG_RUNTIME_DIR=$(mktemp -d)"));
}

}  // namespace

absl::Status check_runtime_folder(std::string_view file_prefix) {
  const std::string dpdk = base_folder() + "/dpdk";
  const std::string folder = absl::StrCat(dpdk, "/", std::string(file_prefix));
  for (const std::string& path : {dpdk, folder}) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return no_rights(path);
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) return no_rights(folder);

  const int fd = open((folder + "/config").c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? absl::OkStatus() : no_rights(folder + "/config");
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool asked = fcntl(fd, F_GETLK, &lock) == 0;
  close(fd);
  if (!asked || lock.l_type == F_UNLCK) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("eal.file_prefix \"", std::string(file_prefix),
                                               "\" is in use by process ", lock.l_pid,
                                               "; give each sidecar of this host its own, or stop that one"));
}

}  // namespace tictac
