#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "dataplane/port/device.h"

namespace tictac {

// Takes the right to listen at the socket path of a virtio-user device (`lock_path`, `stale_path`) and
// removes what a killed process left there. Returns the descriptor that holds the lock; `what` names the
// device in errors.
//
// A lock tells a live owner of a socket path from a file that a killed process left: connecting to find out
// would disturb a live one. The lock file stays; the kernel drops the lock with its process.
absl::StatusOr<int> take_path(const DeviceArguments& device, const std::string& what);

// The virtio-user side waits in accept() until a vhost side connects; a connection that says nothing makes it
// give up.
void end_accept(const std::string& path);

}  // namespace tictac
