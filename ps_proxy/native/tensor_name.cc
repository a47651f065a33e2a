#include "ps_proxy/native/tensor_name.h"

namespace tictac::native {
namespace {

constexpr std::string_view kEdge = "edge_";
constexpr std::array<std::string_view, 2> kSuffixes = {"/Read/ReadVariableOp", "/read"};
constexpr std::string_view kGradients = "gradients/";
constexpr size_t kMostDigits = 18;

struct Edge {
  uint64_t number = 0;
  bool is_number_small = true;
  std::string_view rest;
};

std::optional<Edge> split_edge(std::string_view name) {
  if (!name.starts_with(kEdge)) return std::nullopt;
  Edge edge;
  size_t at = kEdge.size();
  for (; at < name.size() && name[at] >= '0' && name[at] <= '9'; ++at) {
    edge.is_number_small = at - kEdge.size() < kMostDigits;
    if (edge.is_number_small) edge.number = edge.number * 10 + static_cast<uint64_t>(name[at] - '0');
  }
  if (at == kEdge.size() || at + 1 >= name.size() || name[at] != '_') return std::nullopt;
  edge.rest = name.substr(at + 1);
  return edge;
}

}  // namespace

NameForms forms_of(std::string_view name) {
  NameForms result;
  const auto add = [&result](std::string_view form) { result.forms[result.count++] = form; };
  add(name);
  if (const auto edge = split_edge(name)) {
    name = edge->rest;
    add(name);
  }
  for (const std::string_view suffix : kSuffixes) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      add(name.substr(0, name.size() - suffix.size()));
      break;
    }
  }
  return result;
}

std::optional<AutoKey> auto_key(std::string_view name) {
  const auto edge = split_edge(name);
  if (!edge || !edge->is_number_small) return std::nullopt;
  return AutoKey{.is_gradient = edge->rest.starts_with(kGradients), .number = edge->number};
}

}  // namespace tictac::native
