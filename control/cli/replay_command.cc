#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "control/cli/commands.h"
#include "control/cli/graph_options.h"
#include "control/cli/output.h"
#include "control/order/order_file.h"
#include "control/replay/conductor.h"
#include "control/replay/report.h"
#include "control/replay/schedules.h"
#include "dataplane/base/error_place.h"

namespace tictac::cli {
namespace {

struct ReplayCommand {
  GraphOptions graph;
  replay::Options options;
  std::string order_file;
  std::string json_file;
  bool balance = false;
  bool json = false;
};

// One line that is written over, on a terminal only.
class ProgressLine {
 public:
  ProgressLine() : shown_(isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  void show(const std::string& text) const {
    if (shown_) std::fprintf(stderr, "\r\033[K%s", text.c_str());
  }

 private:
  bool shown_;
};

absl::Status complete(ReplayCommand& command, const ModelGraph& graph) {
  replay::Options& options = command.options;
  const bool by_file =
      std::find(options.policies.begin(), options.policies.end(), "file") != options.policies.end();
  if (by_file != !command.order_file.empty())
    return absl::InvalidArgumentError("policy file and --order FILE go together");
  if (by_file) {
    auto order = read_order_file(command.order_file);
    if (!order.ok()) return order.status();
    const auto ranks = ranks_of(graph, *order, nullptr);
    if (!ranks.ok()) return at_place(command.order_file, ranks.status());
    options.file_order = *std::move(order);
  }
  if (graph.recvs.empty())
    return absl::InvalidArgumentError(absl::StrCat(command.graph.graph, ": the worker receives nothing"));
  if (graph.recv_bytes() == 0)
    return absl::InvalidArgumentError(
        absl::StrCat(command.graph.graph, ": no tensor has bytes; give --trace"));
  if (command.balance) options.link_rate = replay::balanced_rate(graph, options.time_scale, options.mtu);
  return absl::OkStatus();
}

absl::Status run(ReplayCommand& command) {
  const auto graph = command.graph.load();
  if (!graph.ok()) return graph.status();
  const absl::Status completed = complete(command, *graph);
  if (!completed.ok()) return completed;
  const auto progress = std::make_shared<ProgressLine>();
  command.options.progress = [progress](const std::string& text) { progress->show(text); };
  const auto result = replay::replay(*graph, command.options);
  if (!result.ok()) return result.status();
  progress->show("");
  if (!command.json_file.empty()) {
    std::ofstream file(command.json_file);
    file << replay::to_json(*result).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
         << '\n';
    if (!file.flush()) return absl::UnavailableError(absl::StrCat(command.json_file, ": cannot be written"));
  }
  if (command.json) {
    print_json(replay::to_json(*result));
  } else {
    print_warnings(graph->warnings);
    std::printf("%s", replay::to_table(*result).c_str());
  }
  for (const auto& policy : result->policies) {
    if (policy.mismatches > 0)
      return absl::DataLossError(
          absl::StrCat(policy.mismatches, " tensors of policy ", policy.policy, " arrived wrong"));
  }
  return absl::OkStatus();
}

std::string check_policy(const std::string& name) {
  return replay::is_replay_policy(name)
             ? std::string()
             : absl::StrCat("unknown policy \"", name,
                            "\"; there are: random, fifo, tic, tac, auto, reverse, file");
}

}  // namespace

void add_replay_command(CommandLine& command_line) {
  const auto options = std::make_shared<ReplayCommand>();
  CLI::App& command = command_line.add("replay", "a recorded model with real bytes through two real sidecars",
                                       [options] { return run(*options); });
  options->graph.add_to(command);
  CLI::Option_group* rate = command.add_option_group("rate", "how fast the link is, one of:");
  rate->require_option(1);
  add_rate(*rate, "--link-rate", options->options.link_rate, "in frame bytes, like 2Gbit/s");
  rate->add_flag("--balance", options->balance, "as fast as makes communication equal computation");
  command
      .add_option("--policies", options->options.policies, "of random, fifo, tic, tac, auto, reverse, file")
      ->delimiter(',')
      ->check(check_policy)
      ->capture_default_str()
      ->type_name("A,B,..");
  command.add_option("--order", options->order_file, "order file of policy file")->type_name("FILE");
  command.add_option("--steps", options->options.steps, "of each policy")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000).description("1..100000"))
      ->type_name("N");
  command.add_option("--time-scale", options->options.time_scale, "stretches the recorded computation")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1000.0).description("0.001..1000"))
      ->type_name("X");
  command.add_option("--mtu", options->options.mtu, "of the cable between the sidecars")
      ->capture_default_str()
      ->check(CLI::Range(1500, 9000).description("1500..9000"))
      ->type_name("BYTES");
  command.add_option("--seed", options->options.seed, "of the orders in which the worker asks")
      ->capture_default_str()
      ->type_name("N");
  command.add_flag("--flip", options->options.flip,
                   "at the end push the reversed order in the middle of a step");
  command.add_option("--json-file", options->json_file, "also write the JSON document there")
      ->type_name("FILE");
  command.add_flag("--keep", options->options.keep,
                   "at the end leave all running until Ctrl-C, and say how to look");
  command.add_flag("--json", options->json, "one JSON document on stdout");
}

}  // namespace tictac::cli
