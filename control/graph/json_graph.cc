#include "control/graph/json_graph.h"

#include <optional>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "dataplane/base/tensor_name.h"
#include "nlohmann/json.hpp"

namespace tictac {
namespace {

using nlohmann::json;

absl::Status at(size_t index, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("op ", index, ": ", what));
}

// An integer from 0 to 2^62, or nothing.
std::optional<uint64_t> whole_number(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (!value.is_number_unsigned() && value.get<int64_t>() < 0) return std::nullopt;
  const auto number = value.get<uint64_t>();
  if (number > uint64_t{1} << 62) return std::nullopt;
  return number;
}

absl::StatusOr<Op> read_op(size_t index, const json& node, ModelGraph& graph) {
  if (!node.is_object()) return at(index, "must be an object like {\"name\":\"a\",\"inputs\":[],\"ns\":1}");
  Op op;
  const auto name = node.find("name");
  if (name == node.end() || !name->is_string() || name->get_ref<const std::string&>().empty()) {
    return at(index, "needs a \"name\"");
  }
  op.name = name->get<std::string>();
  for (const auto& [key, value] : node.items()) {
    if (key == "name" || key == "inputs") continue;
    if (key != "ns" && key != "recv_bytes") return at(index, absl::StrCat("unknown key \"", key, "\""));
    const auto number = whole_number(value);
    if (!number) return at(index, absl::StrCat("\"", key, "\" must be an integer of at least 0"));
    if (key == "ns") {
      op.time = Duration(static_cast<int64_t>(*number));
      op.timed = true;
    } else {
      const TensorName wire = parse_tensor_name(op.name);
      op.recv = static_cast<uint32_t>(graph.recvs.size());
      RecvTensor recv{
          .name = std::string(wire.canonical), .wire_name = op.name, .bytes = *number, .edges = {}};
      if (wire.edge) recv.edges.push_back(recv.data_edge = *wire.edge);
      graph.recvs.push_back(std::move(recv));
    }
  }
  if (op.recv != kNoRecv && op.time.count() != 0) return at(index, "has both \"ns\" and \"recv_bytes\"");
  return op;
}

absl::Status connect(const json& nodes, ModelGraph& graph) {
  std::unordered_map<std::string, uint32_t> index_of;
  for (uint32_t i = 0; i < graph.ops.size(); ++i) {
    if (!index_of.emplace(graph.ops[i].name, i).second)
      return at(i, absl::StrCat("name \"", graph.ops[i].name, "\" is taken"));
  }
  for (uint32_t i = 0; i < graph.ops.size(); ++i) {
    const auto inputs = nodes[i].find("inputs");
    if (inputs == nodes[i].end()) continue;
    if (!inputs->is_array()) return at(i, "\"inputs\" must be a list of names");
    for (const json& input : *inputs) {
      if (!input.is_string()) return at(i, "\"inputs\" must be a list of names");
      std::string name = input.get<std::string>();
      if (name.starts_with('^')) name.erase(0, 1);
      const auto found = index_of.find(name);
      if (found == index_of.end())
        return at(i, absl::StrCat("\"", graph.ops[i].name, "\" has an unknown input \"", name, "\""));
      if (graph.ops[i].recv == kNoRecv) graph.ops[i].inputs.push_back(found->second);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ModelGraph> parse_json_graph(const std::string& content) {
  // Without exceptions the parser says only that it failed, so the place comes from the exception.
  json nodes;
  try {
    nodes = json::parse(content);
  } catch (const json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ...": the first word helps nobody.
    const absl::string_view what = error.what();
    return absl::InvalidArgumentError(absl::StrCat("not JSON: ", what.substr(what.find("] ") + 2)));
  }
  if (!nodes.is_array())
    return absl::InvalidArgumentError("a JSON graph is a list of ops, [{\"name\":...},...]");
  ModelGraph graph;
  for (size_t i = 0; i < nodes.size(); ++i) {
    absl::StatusOr<Op> op = read_op(i, nodes[i], graph);
    if (!op.ok()) return op.status();
    graph.ops.push_back(*std::move(op));
  }
  const absl::Status connected = connect(nodes, graph);
  if (!connected.ok()) return connected;
  return graph;
}

}  // namespace tictac
