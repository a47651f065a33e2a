#include "dataplane/base/units.h"

#include <array>
#include <cmath>

#include "absl/numeric/int128.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace tictac {
namespace {

struct Unit {
  const char* suffix;
  double scale;
};

constexpr std::array<Unit, 5> kRateUnits = {
    {{"Tbit/s", 1e12}, {"Gbit/s", 1e9}, {"Mbit/s", 1e6}, {"kbit/s", 1e3}, {"bit/s", 1}}};

std::string trimmed(double value, int decimals) {
  std::string text = absl::StrFormat("%.*f", decimals, value);
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

Duration transfer_time(uint64_t bytes, Rate rate) {
  const absl::uint128 ns = absl::uint128(bytes) * 8 * 1'000'000'000 / rate.value();
  const absl::uint128 limit = Duration::max().count();
  return ns > limit ? Duration::max() : Duration(static_cast<int64_t>(absl::Uint128Low64(ns)));
}

absl::StatusOr<Rate> parse_rate(absl::string_view text) {
  const auto refuse = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not a rate; write it like 1Gbit/s, 500Mbit/s or 9600bit/s"));
  };
  absl::string_view number = text;
  double scale = 1;
  for (const Unit& unit : kRateUnits) {
    if (absl::ConsumeSuffix(&number, unit.suffix)) {
      scale = unit.scale;
      break;
    }
  }
  double value = 0;
  if (number.empty() || number.find_first_not_of("0123456789.") != absl::string_view::npos ||
      !absl::SimpleAtod(number, &value)) {
    return refuse();
  }
  const double bits = value * scale;
  if (!(bits >= 1) || bits >= 18446744073709551615.0) return refuse();
  const double whole = std::round(bits);
  if (std::abs(bits - whole) > 1e-9 * bits) return refuse();
  return Rate(static_cast<uint64_t>(whole));
}

std::string format_rate(Rate rate) {
  for (const Unit& unit : kRateUnits) {
    const double value = static_cast<double>(rate.value()) / unit.scale;
    if (value >= 1) return absl::StrCat(trimmed(value, 3), unit.suffix);
  }
  return "0bit/s";
}

std::string format_bytes(uint64_t bytes) {
  constexpr std::array<Unit, 3> kUnits = {{{" GB", 1e9}, {" MB", 1e6}, {" kB", 1e3}}};
  for (const Unit& unit : kUnits) {
    const double value = static_cast<double>(bytes) / unit.scale;
    if (value >= 1) return absl::StrCat(trimmed(value, 2), unit.suffix);
  }
  return absl::StrCat(bytes, " B");
}

std::string format_duration(Duration duration) {
  constexpr std::array<Unit, 3> kUnits = {{{" s", 1e9}, {" ms", 1e6}, {" us", 1e3}}};
  const auto ns = static_cast<double>(duration.count());
  for (const Unit& unit : kUnits) {
    if (std::abs(ns) >= unit.scale) return absl::StrCat(trimmed(ns / unit.scale, 2), unit.suffix);
  }
  return absl::StrCat(duration.count(), " ns");
}

}  // namespace tictac
