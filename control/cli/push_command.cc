#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "control/cli/commands.h"
#include "control/cli/daemon_options.h"
#include "control/cli/graph_options.h"
#include "control/cli/output.h"
#include "control/order/order_file.h"
#include "control/schedule/client.h"

namespace tictac::cli {
namespace {

struct PushCommand {
  DaemonOptions daemon;
  GraphOptions graph;
  OrderSourceOptions source;
  std::string job;
  std::optional<uint32_t> default_rank;
  double wait_seconds = 5;
  bool json = false;
};

absl::StatusOr<Order> make_order(const PushCommand& options) {
  if (!options.source.order_file.empty()) return read_order_file(options.source.order_file);
  if (options.graph.graph.empty())
    return absl::InvalidArgumentError("--policy needs --graph; or give --order FILE");
  const auto graph = options.graph.load();
  if (!graph.ok()) return graph.status();
  return options.source.make(*graph);
}

control::PushRequest make_request(const PushCommand& options, const Order& order) {
  control::PushRequest request;
  request.set_job(options.job);
  if (options.default_rank) request.set_default_rank(*options.default_rank);
  for (const RankedRecv& recv : order.recvs) {
    control::Entry& entry = *request.add_entries();
    entry.set_name(recv.name);
    entry.set_rank(recv.rank.value());
  }
  return request;
}

// OK when every connected proxy has acknowledged; the first that has not is the error.
absl::Status judge(const PushCommand& options, const control::StatusReply& status, uint64_t version) {
  for (const control::JobStatus& job : status.jobs()) {
    if (job.version() != version) continue;
    for (const auto& proxy : job.proxies()) {
      if (!proxy.connected() || proxy.newest() == control::ACKED) continue;
      const std::string who =
          absl::StrCat("proxy ", proxy.proxy(), " of job ", options.job, " version ", version);
      if (proxy.newest() == control::NACKED)
        return absl::FailedPreconditionError(absl::StrCat(who, " refuses: ", proxy.reason()));
      return absl::DeadlineExceededError(
          absl::StrCat(who, " has not answered in ", options.wait_seconds, " s; see tictac status"));
    }
  }
  return absl::OkStatus();
}

void print(const PushCommand& options, const control::StatusReply& status, uint64_t version, size_t entries) {
  std::vector<std::string> acked;
  for (const control::JobStatus& job : status.jobs()) {
    for (const auto& proxy : job.proxies()) {
      if (proxy.connected() && proxy.newest() == control::ACKED) acked.push_back(proxy.proxy());
    }
  }
  if (options.json) {
    print_json({{"job", options.job}, {"version", version}, {"entries", entries}, {"acked", acked}});
    return;
  }
  std::printf("job %s has version %llu with %zu entries", options.job.c_str(),
              static_cast<unsigned long long>(version), entries);
  if (acked.empty()) std::printf("; no proxy is connected, they get it when they are");
  for (size_t i = 0; i < acked.size(); ++i)
    std::printf("%s%s", i == 0 ? "; in force at " : ", ", printable(acked[i]).c_str());
  std::printf("\n");
}

absl::Status run(const PushCommand& options) {
  const auto order = make_order(options);
  if (!order.ok()) return order.status();
  ScheduleClient client(options.daemon.socket);
  const Duration limit(static_cast<int64_t>(options.wait_seconds * 1e9));
  const auto pushed = client.push(make_request(options, *order), std::max(limit, Duration(1s)));
  if (!pushed.ok()) return pushed.status();
  const auto status = client.wait_for_answers(options.job, pushed->version(), limit);
  if (!status.ok()) return status.status();
  const absl::Status verdict = judge(options, *status, pushed->version());
  if (verdict.ok()) print(options, *status, pushed->version(), order->recvs.size());
  return verdict;
}

}  // namespace

void add_push_command(CommandLine& command_line) {
  const auto options = std::make_shared<PushCommand>();
  CLI::App& command =
      command_line.add("push", "registers a schedule with tictacd and waits for the proxies' answers",
                       [options] { return run(*options); });
  command
      .add_option("--job", options->job,
                  "job that the schedule is for, as applications name it when they connect")
      ->required()
      ->type_name("NAME");
  options->graph.add_to(command, /*required=*/false);
  options->source.add_to(command, /*bandwidth_required=*/false);
  command
      .add_option("--default-rank", options->default_rank,
                  "of names that the order lacks; without it they follow policy auto")
      ->type_name("RANK");
  command.add_option("--wait", options->wait_seconds, "for the answers")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0).description("0..3600"))
      ->type_name("SECONDS");
  options->daemon.add_to(command);
  command.add_flag("--json", options->json, "one JSON document on stdout");
}

}  // namespace tictac::cli
