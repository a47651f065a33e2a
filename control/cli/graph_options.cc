#include "control/cli/graph_options.h"

#include "control/graph/load_graph.h"
#include "control/order/order_file.h"

namespace tictac::cli {

namespace {

constexpr const char* kFormats =
    R"(Graphs: TensorFlow's RunMetadata of one step, recorded with FULL_TRACE and output_partition_graphs, is --graph and
--trace at once. Or a list of parameters and ops in JSON, times in ns:
  [{"name":"w1","recv_bytes":4096}, {"name":"op1","inputs":["w1"],"ns":1000}]
Policies:
  tic      first what an op needs together with the fewest others; needs the graph only
  tac      by times and sizes too; needs --trace (or a JSON graph) and the bandwidth
  auto     by NUMBER in edge_NUMBER_NAME, as a sidecar does for names without a schedule
  random   any order
  fifo     no ranks: as they are asked for
  reverse  the file's parameters from the last to the first, a bad order to compare with)";

}  // namespace

void GraphOptions::add_to(CLI::App& command, bool required) {
  command.footer(kFormats);
  command.add_option("--graph", graph, "worker's graph: GraphDef, RunMetadata or JSON (below), gzip or not")
      ->required(required)
      ->type_name("FILE");
  command.add_option("--trace", traces, "times and sizes: RunMetadata of one step; repeat for more steps")
      ->type_name("FILE")
      ->take_all();
}

absl::StatusOr<ModelGraph> GraphOptions::load() const { return load_graph(graph, traces); }

CLI::Option* add_rate(CLI::App& command, const std::string& name, Rate& rate, const std::string& help) {
  const auto set = [&rate, name](const std::string& text) {
    const auto parsed = parse_rate(text);
    if (!parsed.ok()) throw CLI::ValidationError(name, std::string(parsed.status().message()));
    rate = *parsed;
  };
  return command.add_option_function<std::string>(name, set, help)->type_name("RATE");
}

CLI::Option* add_policy(CLI::App& command, std::string& policy) {
  const auto known = [](const std::string& name) {
    const auto parsed = parse_policy(name);
    return parsed.ok() ? std::string() : std::string(parsed.status().message());
  };
  return command.add_option("--policy", policy, "tic, tac, auto, random, fifo, reverse")
      ->check(known)
      ->type_name("NAME");
}

void OrderSourceOptions::add_to(CLI::App& command, bool bandwidth_required) {
  // A group of its own so that "just one of these" is checked while parsing.
  CLI::Option_group* from = command.add_option_group("order", "where the order comes from, one of:");
  from->require_option(1);
  add_policy(*from, policy);
  from->add_option("--order", order_file, "order file, NAME<TAB>RANK a line")->type_name("FILE");
  CLI::Option* rate = add_rate(command, "--bandwidth", bandwidth, "of the channel, like 10Gbit/s");
  if (bandwidth_required) rate->required();
  command.add_option("--seed", seed, "of policy random")->capture_default_str()->type_name("N");
}

absl::StatusOr<Order> OrderSourceOptions::make(const ModelGraph& graph) const {
  if (!order_file.empty()) return read_order_file(order_file);
  const auto parsed = parse_policy(policy);
  if (!parsed.ok()) return parsed.status();
  return compute_order(graph, {.policy = *parsed, .bandwidth = bandwidth, .seed = seed});
}

}  // namespace tictac::cli
