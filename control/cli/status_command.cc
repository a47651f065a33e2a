#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "control/cli/commands.h"
#include "control/cli/daemon_options.h"
#include "control/cli/output.h"
#include "control/schedule/client.h"

namespace tictac::cli {
namespace {

struct StatusCommand {
  DaemonOptions daemon;
  std::string job;
  bool json = false;
};

const char* text_of(control::Standing standing) {
  switch (standing) {
    case control::ACKED:
      return "ack";
    case control::NACKED:
      return "nack";
    default:
      return "waiting";
  }
}

nlohmann::ordered_json to_json(const control::StatusReply& status) {
  nlohmann::ordered_json jobs = nlohmann::ordered_json::array();
  for (const control::JobStatus& job : status.jobs()) {
    nlohmann::ordered_json proxies = nlohmann::ordered_json::array();
    for (const auto& proxy : job.proxies()) {
      proxies.push_back({{"proxy", proxy.proxy()},
                         {"connected", proxy.connected()},
                         {"in_force", proxy.in_force()},
                         {"newest", text_of(proxy.newest())},
                         {"reason", proxy.reason()}});
    }
    nlohmann::ordered_json one = {{"job", job.job()},
                                  {"version", job.version()},
                                  {"entries", job.entries()},
                                  {"pushed_unix_ms", job.pushed_unix_ms()},
                                  {"proxies", proxies}};
    if (job.has_default_rank()) one["default_rank"] = job.default_rank();
    jobs.push_back(one);
  }
  nlohmann::ordered_json proxies = nlohmann::ordered_json::array();
  for (const control::ProxyStatus& proxy : status.proxies()) {
    proxies.push_back({{"proxy", proxy.proxy()},
                       {"connected", proxy.connected()},
                       {"since_unix_ms", proxy.since_unix_ms()}});
  }
  return {{"jobs", jobs}, {"proxies", proxies}};
}

std::string age_of(int64_t unix_ms) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  const int64_t seconds = std::max<int64_t>(now - unix_ms / 1000, 0);
  if (seconds < 120) return absl::StrCat(seconds, " s");
  return seconds < 7200 ? absl::StrCat(seconds / 60, " min") : absl::StrCat(seconds / 3600, " h");
}

void print_jobs(const control::StatusReply& status) {
  std::printf("%-24s %8s %8s %9s  %-20s %9s  %s\n", "JOB", "VERSION", "ENTRIES", "PUSHED", "PROXY",
              "IN FORCE", "NEWEST");
  for (const control::JobStatus& job : status.jobs()) {
    const std::string head = absl::StrCat(printable(job.job()));
    const auto print_head = [&](bool whole) {
      if (!whole) return static_cast<void>(std::printf("%-24s %8s %8s %9s  ", "", "", "", ""));
      std::printf("%-24s %8llu %8llu %9s  ", head.c_str(), static_cast<unsigned long long>(job.version()),
                  static_cast<unsigned long long>(job.entries()), age_of(job.pushed_unix_ms()).c_str());
    };
    if (job.proxies().empty()) {
      print_head(true);
      std::printf("%-20s\n", "(none)");
    }
    for (int i = 0; i < job.proxies_size(); ++i) {
      const auto& proxy = job.proxies(i);
      print_head(i == 0);
      std::printf("%-20s %9llu  %s%s%s%s\n", printable(proxy.proxy()).c_str(),
                  static_cast<unsigned long long>(proxy.in_force()), text_of(proxy.newest()),
                  proxy.connected() ? "" : ", away", proxy.reason().empty() ? "" : ": ",
                  printable(proxy.reason()).c_str());
    }
  }
}

void print_table(const control::StatusReply& status) {
  if (status.jobs().empty()) {
    std::printf("no schedule yet; tictac push makes one\n");
  } else {
    print_jobs(status);
  }
  if (status.proxies().empty()) std::printf("no proxy has come yet\n");
  for (const control::ProxyStatus& proxy : status.proxies()) {
    std::printf("proxy %s %s for %s\n", printable(proxy.proxy()).c_str(),
                proxy.connected() ? "connected" : "away", age_of(proxy.since_unix_ms()).c_str());
  }
}

absl::Status run(const StatusCommand& options) {
  const auto status = ScheduleClient(options.daemon.socket).status(options.job, 5s);
  if (!status.ok()) return status.status();
  if (!options.job.empty() && status->jobs().empty()) {
    return absl::NotFoundError(
        absl::StrCat("no job ", options.job, "; tictac push --job ", options.job, " makes it"));
  }
  if (options.json) {
    print_json(to_json(*status));
  } else {
    print_table(*status);
  }
  return absl::OkStatus();
}

}  // namespace

void add_status_command(CommandLine& command_line) {
  const auto options = std::make_shared<StatusCommand>();
  CLI::App& command =
      command_line.add("status", "which schedule is in force where", [options] { return run(*options); });
  command.add_option("--job", options->job, "only this job")->type_name("NAME");
  options->daemon.add_to(command);
  command.add_flag("--json", options->json, "one JSON document on stdout");
}

}  // namespace tictac::cli
