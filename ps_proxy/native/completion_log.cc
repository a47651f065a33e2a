#include "ps_proxy/native/completion_log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "ps_proxy/native/native_job.h"

namespace tictac::native {
namespace {

constexpr size_t kRing = 4096;

std::string escaped(std::string_view text) {
  return absl::CHexEscape(absl::string_view(text.data(), text.size()));
}

}  // namespace

template <size_t kRoom>
void CompletionLog::Text<kRoom>::assign(std::string_view text) {
  size = static_cast<uint16_t>(std::min(text.size(), kRoom));
  std::memcpy(bytes.data(), text.data(), size);
}

CompletionLog::CompletionLog(std::string path, uint64_t most_bytes)
    : path_(std::move(path)), most_bytes_(most_bytes), ring_(kRing) {}

CompletionLog::~CompletionLog() {
  if (!file_) return;
  write();
  std::fclose(file_);
}

absl::StatusOr<std::unique_ptr<CompletionLog>> CompletionLog::open(const std::string& path,
                                                                   uint64_t most_bytes) {
  std::unique_ptr<CompletionLog> log(new CompletionLog(path, most_bytes));
  log->file_ = std::fopen(path.c_str(), "we");
  if (!log->file_) return absl::ErrnoToStatus(errno, absl::StrCat("log.completions: cannot write ", path));
  return log;
}

void CompletionLog::add(Time now, std::string_view job, const Fetch& fetch, tictac_status status,
                        uint64_t size) {
  Record record{.time_ns = now.time_since_epoch().count(),
                .version = fetch.version.value(),
                .size = size,
                .rank = fetch.rank.value(),
                .status = status};
  record.job.assign(job);
  record.name.assign(fetch.name->text);
  if (!ring_.try_push(std::move(record))) dropped_.fetch_add(1, std::memory_order_relaxed);
}

void CompletionLog::write() {
  bool any = false;
  while (const auto record = ring_.try_pop()) {
    const std::string line = absl::StrCat(
        record->time_ns, "\t", escaped(record->job.view()), "\t", record->version, "\t", record->rank, "\t",
        tictac_status_text(record->status), "\t", record->size, "\t", escaped(record->name.view()), "\n");
    if (written_ + line.size() > most_bytes_) rotate();
    if (file_ && std::fwrite(line.data(), 1, line.size(), file_) == line.size()) {
      written_ += line.size();
    } else {
      dropped_.fetch_add(1, std::memory_order_relaxed);
    }
    any = true;
  }
  if (any && file_) std::fflush(file_);
}

void CompletionLog::rotate() {
  if (file_) std::fclose(file_);
  (void)std::rename(path_.c_str(), (path_ + ".1").c_str());
  file_ = std::fopen(path_.c_str(), "we");
  written_ = 0;
}

}  // namespace tictac::native
