#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"

namespace tictac {

// Codes of absl and gRPC are the same numbers.
inline grpc::Status to_grpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.raw_code()), std::string(status.message())};
}
inline absl::Status from_grpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace tictac
