#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "ps_proxy/client/client_state.h"

namespace tictac::native {

// Memory that the proxy makes for a client: a memfd, sealed so that nobody can shrink or grow it (a mapped
// page that was cut off would kill the proxy with SIGBUS), mapped and touched. What it holds is the client's
// to change at any time.
struct SharedMemory {
  Fd fd;
  Mapping mapping;
};
absl::StatusOr<SharedMemory> make_shared_memory(const char* name, size_t size);

}  // namespace tictac::native
