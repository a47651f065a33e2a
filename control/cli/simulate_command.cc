#include <cstdio>
#include <memory>

#include "control/cli/commands.h"
#include "control/cli/graph_options.h"
#include "control/cli/output.h"
#include "control/order/simulator.h"
#include "nlohmann/json.hpp"

namespace tictac::cli {
namespace {

struct SimulateCommand {
  GraphOptions graph;
  OrderSourceOptions source;
  bool json = false;
};

void print_table(const ModelGraph& graph, const Simulation& simulation, Duration bound) {
  std::printf("makespan    %s\n", format_duration(simulation.makespan).c_str());
  std::printf("U           %s (all communication + all computation)\n",
              format_duration(simulation.upper).c_str());
  std::printf("L           %s (the larger of the two)\n", format_duration(simulation.lower).c_str());
  std::printf("E           %.4f\nS           %.4f\n", simulation.efficiency, simulation.speedup);
  std::printf(
      "bound       %s (no order can be faster; this one takes %.3f of it)\n", format_duration(bound).c_str(),
      bound.count() ? static_cast<double>(simulation.makespan.count()) / static_cast<double>(bound.count())
                    : 1.0);
  std::printf("recvs       %zu, %s; ops %zu timed, %zu untimed\n", graph.recvs.size(),
              format_bytes(graph.recv_bytes()).c_str(), graph.timed_ops(), graph.untimed_ops());
}

absl::Status run(const SimulateCommand& options) {
  auto graph = options.graph.load();
  if (!graph.ok()) return graph.status();
  const auto order = options.source.make(*graph);
  if (!order.ok()) return order.status();
  const auto ranks = ranks_of(*graph, *order, &graph->warnings);
  if (!ranks.ok()) return ranks.status();
  const Simulation simulation = simulate(*graph, *ranks, options.source.bandwidth);
  const Duration bound = lower_bound(*graph, options.source.bandwidth);
  if (!options.json) {
    print_warnings(graph->warnings);
    print_warnings(order->warnings);
    print_table(*graph, simulation, bound);
    return absl::OkStatus();
  }
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const uint32_t recv : simulation.order) names.push_back(graph->recvs[recv].name);
  print_json({{"makespan_ns", simulation.makespan.count()},
              {"upper_ns", simulation.upper.count()},
              {"lower_ns", simulation.lower.count()},
              {"efficiency", simulation.efficiency},
              {"speedup", simulation.speedup},
              {"bound_ns", bound.count()},
              {"order", names}});
  return absl::OkStatus();
}

}  // namespace

void add_simulate_command(CommandLine& command_line) {
  const auto options = std::make_shared<SimulateCommand>();
  CLI::App& command = command_line.add("simulate", "tells the step time that an order gives",
                                       [options] { return run(*options); });
  options->graph.add_to(command);
  options->source.add_to(command, /*bandwidth_required=*/true);
  command.add_flag("--json", options->json, "one JSON document on stdout");
}

}  // namespace tictac::cli
