#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/strong_int.h"

namespace tictac {

// A rate in bits per second, as link rates are written everywhere. Zero means "no limit" where a config says
// so.
using Rate = StrongInt<struct RateTag, uint64_t>;

// Time that `bytes` take at `rate` (> 0), rounded down to whole nanoseconds, computed in 128 bits:
// bytes * 8 * 10^9 / rate. The largest Duration when it does not fit.
Duration transfer_time(uint64_t bytes, Rate rate);

// Reads "1Gbit/s", "500Mbit/s", "2.5Gbit/s", "9600bit/s" or a bare number of bits per second. Units are
// decimal. Refuses zero, negative, fractional bits and what exceeds 64 bits, naming the text.
absl::StatusOr<Rate> parse_rate(absl::string_view text);

// Writes a rate in the largest unit that leaves at most three decimals: "1Gbit/s", "3.104Gbit/s".
std::string format_rate(Rate rate);

// Writes bytes or a duration for people: "26.47 MB", "812 B"; "68.21 ms", "412 us".
std::string format_bytes(uint64_t bytes);
std::string format_duration(Duration duration);

}  // namespace tictac
