#include "dataplane/port/dpdk_log.h"

#include <rte_log.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <mutex>
#include <utility>

#include "absl/strings/str_join.h"

namespace tictac {
namespace {

constexpr size_t kKeptErrors = 3;
constexpr size_t kRecentLines = 16;
constexpr size_t kLongestLine = 4096;

struct State {
  std::mutex mutex;
  std::function<void(DpdkLogLevel, std::string_view)> sink;
  std::string partial;
  std::deque<std::string> errors;
  std::deque<std::string> recent;  // a device that is down says so again and again
  bool quiet = false;
  FILE* stream = nullptr;
};

// Never destroyed: threads of DPDK's may log until the very end.
State& state() {
  static State* const the_state = new State;
  return *the_state;
}

DpdkLogLevel level_of(int dpdk) {
  if (dpdk <= static_cast<int>(RTE_LOG_ERR)) return DpdkLogLevel::kError;
  if (dpdk <= static_cast<int>(RTE_LOG_WARNING)) return DpdkLogLevel::kWarning;
  return dpdk <= static_cast<int>(RTE_LOG_INFO) ? DpdkLogLevel::kInfo : DpdkLogLevel::kDebug;
}

uint32_t dpdk_level(DpdkLogLevel level) {
  switch (level) {
    case DpdkLogLevel::kError:
      return RTE_LOG_ERR;
    case DpdkLogLevel::kWarning:
      return RTE_LOG_WARNING;
    case DpdkLogLevel::kInfo:
      return RTE_LOG_INFO;
    case DpdkLogLevel::kDebug:
      break;
  }
  return RTE_LOG_DEBUG;
}

void on_line(State& s, DpdkLogLevel level, std::string_view line) {
  if (line.empty()) return;
  if (level == DpdkLogLevel::kError) {
    s.errors.emplace_back(line);
    if (s.errors.size() > kKeptErrors) s.errors.pop_front();
  }
  if (s.quiet && level == DpdkLogLevel::kError && !line.starts_with("PANIC")) return;
  if (std::ranges::find(s.recent, line) != s.recent.end()) return;
  s.recent.emplace_back(line);
  if (s.recent.size() > kRecentLines) s.recent.pop_front();
  if (s.sink) {
    s.sink(level, line);
  } else {
    std::fprintf(stderr, "dpdk: %.*s\n", static_cast<int>(line.size()), line.data());
  }
}

ssize_t on_write(void*, const char* data, size_t size) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.partial.append(data, size);
  size_t begin = 0;
  for (size_t end = 0; (end = s.partial.find('\n', begin)) != std::string::npos; begin = end + 1) {
    on_line(s, level_of(rte_log_cur_msg_loglevel()), std::string_view(s.partial).substr(begin, end - begin));
  }
  s.partial.erase(0, begin);
  if (s.partial.size() > kLongestLine) s.partial.clear();
  return static_cast<ssize_t>(size);
}

}  // namespace

void DpdkLog::install(std::function<void(DpdkLogLevel, std::string_view)> sink, DpdkLogLevel level) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.sink = std::move(sink);
  if (s.stream == nullptr) {
    s.stream =
        fopencookie(nullptr, "w", {.read = nullptr, .write = on_write, .seek = nullptr, .close = nullptr});
    setvbuf(s.stream, nullptr, _IOLBF, kLongestLine);
  }
  rte_openlog_stream(s.stream);
  rte_log_set_global_level(dpdk_level(level));
}

void DpdkLog::uninstall() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.sink = nullptr;
}

void DpdkLog::be_quiet(bool quiet) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.quiet = quiet;
}

void DpdkLog::error(std::string_view line) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  on_line(s, DpdkLogLevel::kError, line);
}

std::string DpdkLog::last_errors() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  std::string all = absl::StrJoin(s.errors, "; ");
  s.errors.clear();
  return all;
}

}  // namespace tictac
