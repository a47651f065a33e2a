#include "ps_proxy/schedule_link.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "control/schedule/schedule_limits.h"
#include "spdlog/spdlog.h"

namespace tictac {
namespace {

constexpr Duration kSwapLimit = 2s;

}  // namespace

absl::StatusOr<ScheduleEntries> entries_of(const control::Schedule& schedule) {
  if (schedule.version() == 0) return absl::InvalidArgumentError("version 0 means no schedule");
  ScheduleEntries out{.job = schedule.job(), .version = ScheduleVersion(schedule.version())};
  out.entries.reserve(static_cast<size_t>(schedule.entries_size()));
  absl::flat_hash_set<absl::string_view> names;
  for (const control::Entry& entry : schedule.entries()) {
    if (entry.rank() > kMostRank) {
      return absl::InvalidArgumentError(absl::StrCat(
          "rank ", entry.rank(), " of ", absl::CHexEscape(entry.name()), " is above ", kMostRank));
    }
    if (!names.insert(entry.name()).second) {
      return absl::InvalidArgumentError(absl::StrCat(absl::CHexEscape(entry.name()), " has two entries"));
    }
    out.entries.emplace_back(entry.name(), Rank(entry.rank()));
  }
  if (schedule.has_default_rank()) {
    if (schedule.default_rank() > kMostRank) {
      return absl::InvalidArgumentError(absl::StrCat("default rank is above ", kMostRank));
    }
    out.default_rank = Rank(schedule.default_rank());
  }
  return out;
}

ScheduleLink::ScheduleLink(const std::string& socket, const std::string& proxy,
                           native::NativeGateway& gateway, Mailbox& mailbox)
    : gateway_(gateway),
      mailbox_(mailbox),
      watch_(socket, proxy, [this](const control::Schedule& schedule) { return put_in_force(schedule); }) {}

absl::Status ScheduleLink::put_in_force(const control::Schedule& schedule) {
  const auto entries = entries_of(schedule);
  if (!entries.ok()) return entries.status();
  std::unique_ptr<const RankTable> table = std::make_unique<RankTable>(*entries);
  const size_t shared = table->levels_shared();
  // The old table comes back in `table` and is destroyed on this thread.
  if (!mailbox_.call(kSwapLimit,
                     [&](Time) { table = gateway_.set_table(schedule.job(), std::move(table)); })) {
    return absl::UnavailableError("the packet loop does not answer");
  }
  spdlog::info("job {}: schedule version {} in force, {} names{}", schedule.job(), schedule.version(),
               schedule.entries_size(),
               shared ? absl::StrCat("; ", shared, " ranks above 4096 share levels") : std::string());
  return absl::OkStatus();
}

}  // namespace tictac
