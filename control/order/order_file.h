#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "control/order/order.h"

namespace tictac {

// Most bytes and entries of an order file.
inline constexpr uint64_t kMostOrderBytes = uint64_t{256} << 20;
inline constexpr size_t kMostOrderEntries = 2'000'000;

// The TicTac format: one `NAME<TAB>RANK` a line. Blank lines and lines that begin with `#` are skipped; CRLF
// and a missing last newline are allowed; a UTF-8 byte-order mark at the start is skipped. Refused, with the
// line's number: a missing tab, a rank that is no integer from 0 to 2^31-1, a name twice, an empty name, a
// NUL byte. Blanks belong to the name. Never half loaded; sizes are 0.
absl::StatusOr<Order> read_order_file(const std::string& path);
absl::StatusOr<Order> parse_order(absl::string_view content);

std::string format_order(const Order& order);
// Writes a new file beside the old one and renames it, so that a reader sees the old or the new.
absl::Status write_order_file(const std::string& path, const Order& order);

}  // namespace tictac
