#include <cstdio>
#include <memory>

#include "control/cli/commands.h"
#include "control/cli/graph_options.h"
#include "control/cli/output.h"
#include "control/order/order_file.h"
#include "nlohmann/json.hpp"

namespace tictac::cli {
namespace {

struct OrderCommand {
  GraphOptions graph;
  OrderSourceOptions source;
  std::string output;
  bool json = false;
};

nlohmann::ordered_json to_json(const OrderCommand& options, const ModelGraph& graph, const Order& order) {
  nlohmann::ordered_json recvs = nlohmann::ordered_json::array();
  for (const RankedRecv& recv : order.recvs) {
    recvs.push_back({{"name", recv.name}, {"bytes", recv.bytes}, {"rank", recv.rank.value()}});
  }
  nlohmann::ordered_json warnings = nlohmann::ordered_json::array();
  for (const auto* list : {&graph.warnings, &order.warnings}) {
    for (const std::string& warning : *list) warnings.push_back(warning);
  }
  return {{"policy", options.source.policy},
          {"bandwidth_bps", options.source.bandwidth.value()},
          {"recv", recvs},
          {"timed_ops", graph.timed_ops()},
          {"untimed_ops", graph.untimed_ops()},
          {"warnings", warnings}};
}

void print_table(const ModelGraph& graph, const Order& order) {
  print_warnings(graph.warnings);
  print_warnings(order.warnings);
  std::printf("%6s  %12s  %s\n", "rank", "bytes", "name");
  for (const RankedRecv& recv : order.recvs) {
    std::printf("%6u  %12llu  %s\n", recv.rank.value(), static_cast<unsigned long long>(recv.bytes),
                printable(recv.name).c_str());
  }
}

absl::Status run(const OrderCommand& options) {
  const auto graph = options.graph.load();
  if (!graph.ok()) return graph.status();
  const auto order = options.source.make(*graph);
  if (!order.ok()) return order.status();
  if (!options.output.empty()) {
    const absl::Status written = write_order_file(options.output, *order);
    if (!written.ok()) return written;
  }
  if (options.json) {
    print_json(to_json(options, *graph, *order));
  } else if (options.output.empty()) {
    print_table(*graph, *order);
  } else {
    print_warnings(graph->warnings);
    print_warnings(order->warnings);
    std::printf("%zu names in %s\n", order->recvs.size(), options.output.c_str());
  }
  return absl::OkStatus();
}

}  // namespace

void add_order_command(CommandLine& command_line) {
  const auto options = std::make_shared<OrderCommand>();
  CLI::App& command = command_line.add("order", "computes an order of the parameters from a graph",
                                       [options] { return run(*options); });
  options->graph.add_to(command);
  add_policy(command, options->source.policy)->required();
  add_rate(command, "--bandwidth", options->source.bandwidth,
           "of the channel, like 10Gbit/s; policy tac needs it");
  command.add_option("--seed", options->source.seed, "of policy random")
      ->capture_default_str()
      ->type_name("N");
  command.add_option("-o,--output", options->output, "write an order file, NAME<TAB>RANK a line")
      ->type_name("FILE");
  command.add_flag("--json", options->json, "one JSON document on stdout");
}

}  // namespace tictac::cli
