#include "control/order/order_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "control/graph/file_content.h"
#include "dataplane/base/error_place.h"

namespace tictac {
namespace {

absl::Status in_line(size_t line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
}

// Digits only: SimpleAtoi would take signs and blanks.
bool parse_rank(absl::string_view text, uint32_t* rank) {
  return !text.empty() && text.find_first_not_of("0123456789") == absl::string_view::npos &&
         absl::SimpleAtoi(text, rank) && *rank <= kMostRank;
}

absl::StatusOr<RankedRecv> parse_line(size_t number, absl::string_view line) {
  const size_t tab = line.rfind('\t');
  if (line.find('\0') != absl::string_view::npos) return in_line(number, "a NUL byte; is it an order file?");
  if (tab == absl::string_view::npos) return in_line(number, "no tab; write NAME<TAB>RANK");
  if (tab == 0) return in_line(number, "no name before the tab");
  const absl::string_view text = line.substr(tab + 1);
  uint32_t rank = 0;
  if (!parse_rank(text, &rank)) {
    return in_line(number, absl::StrCat("rank \"", absl::CEscape(text.substr(0, 40)),
                                        "\" is no integer from 0 to ", kMostRank));
  }
  return RankedRecv{.name = std::string(line.substr(0, tab)), .bytes = 0, .rank = Rank(rank)};
}

}  // namespace

absl::StatusOr<Order> parse_order(absl::string_view content) {
  Order order;
  absl::flat_hash_map<std::string, size_t> line_of;
  absl::ConsumePrefix(&content, "\xef\xbb\xbf");
  for (size_t number = 1; !content.empty(); ++number) {
    const size_t end = content.find('\n');
    absl::string_view line = content.substr(0, end);
    content.remove_prefix(end == absl::string_view::npos ? content.size() : end + 1);
    absl::ConsumeSuffix(&line, "\r");
    if (line.empty() || line[0] == '#') continue;
    absl::StatusOr<RankedRecv> recv = parse_line(number, line);
    if (!recv.ok()) return recv.status();
    const auto [first, is_new] = line_of.emplace(recv->name, number);
    if (!is_new) {
      return in_line(number, absl::StrCat("\"", absl::CEscape(recv->name), "\" stands in line ",
                                          first->second, " already"));
    }
    if (order.recvs.size() >= kMostOrderEntries)
      return in_line(number, absl::StrCat("more than ", kMostOrderEntries, " entries"));
    order.recvs.push_back(*std::move(recv));
  }
  std::stable_sort(order.recvs.begin(), order.recvs.end(),
                   [](const RankedRecv& a, const RankedRecv& b) { return a.rank < b.rank; });
  return order;
}

absl::StatusOr<Order> read_order_file(const std::string& path) {
  const absl::StatusOr<std::string> content = read_content(path, kMostOrderBytes);
  if (!content.ok()) return content.status();
  absl::StatusOr<Order> order = parse_order(*content);
  if (!order.ok()) return at_place(path, order.status());
  return order;
}

std::string format_order(const Order& order) {
  std::string text;
  for (const RankedRecv& recv : order.recvs) absl::StrAppend(&text, recv.name, "\t", recv.rank.value(), "\n");
  return text;
}

absl::Status write_order_file(const std::string& path, const Order& order) {
  const std::string fresh = absl::StrCat(path, ".", getpid(), ".new");
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  file << format_order(order);
  file.close();
  if (!file || std::rename(fresh.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(fresh.c_str());
    return absl::UnavailableError(absl::StrCat(path, ": cannot be written: ", std::strerror(error)));
  }
  return absl::OkStatus();
}

}  // namespace tictac
