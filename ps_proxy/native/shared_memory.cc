#include "ps_proxy/native/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace tictac::native {

absl::StatusOr<SharedMemory> make_shared_memory(const char* name, size_t size) {
  SharedMemory memory;
  memory.fd = Fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.fd) return absl::ErrnoToStatus(errno, "memfd_create");
  if (ftruncate(memory.fd.get(), static_cast<off_t>(size)) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("no shared memory of ", size, " bytes"));
  }
  if (fcntl(memory.fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return absl::ErrnoToStatus(errno, "cannot seal shared memory");
  }
  if (!memory.mapping.map(memory.fd.get(), size)) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot map shared memory of ", size, " bytes"));
  }
  return memory;
}

}  // namespace tictac::native
