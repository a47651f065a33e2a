#pragma once

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tictac {

// The same error with the place that it is about in front: "FILE: what is wrong".
inline absl::Status at_place(absl::string_view place, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(place, ": ", status.message()));
}

}  // namespace tictac
