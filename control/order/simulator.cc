#include "control/order/simulator.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace tictac {
namespace {

// The compute unit over the timeline of arrivals.
class Timeline {
 public:
  Timeline(const ModelGraph& graph, std::vector<Duration> ends)
      : graph_(graph), ends_(std::move(ends)), users_(graph.ops.size()), missing_(graph.ops.size()) {
    for (uint32_t op = 0; op < graph.ops.size(); ++op) {
      missing_[op] = static_cast<uint32_t>(graph.ops[op].inputs.size());
      for (const uint32_t input : graph.ops[op].inputs) users_[input].push_back(op);
    }
  }

  // `arrivals`: recv ops by their time, ends_ filled.
  std::vector<Duration> run(const std::vector<uint32_t>& arrivals) {
    for (uint32_t op = 0; op < graph_.ops.size(); ++op) {
      if (missing_[op] == 0 && graph_.ops[op].recv == kNoRecv) ready_.push(op);
    }
    size_t next = 0;
    Duration now{0};
    while (next < arrivals.size() || !ready_.empty()) {
      if (ready_.empty()) now = std::max(now, ends_[arrivals[next]]);
      for (; next < arrivals.size() && ends_[arrivals[next]] <= now; ++next) complete(arrivals[next]);
      if (ready_.empty()) continue;
      const uint32_t op = ready_.top();
      ready_.pop();
      now += graph_.ops[op].time;
      ends_[op] = now;
      // What arrives while it runs is seen before the next choice, which comes no earlier than its end.
      for (; next < arrivals.size() && ends_[arrivals[next]] <= now; ++next) complete(arrivals[next]);
      complete(op);
    }
    return std::move(ends_);
  }

 private:
  void complete(uint32_t op) {
    for (const uint32_t user : users_[op]) {
      if (--missing_[user] == 0) ready_.push(user);
    }
  }

  const ModelGraph& graph_;
  std::vector<Duration> ends_;
  std::vector<std::vector<uint32_t>> users_;
  std::vector<uint32_t> missing_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready_;
};

}  // namespace

Simulation simulate(const ModelGraph& graph, const std::vector<uint32_t>& ranks, Rate bandwidth) {
  Simulation result;
  result.order.resize(ranks.size());
  std::iota(result.order.begin(), result.order.end(), 0U);
  std::stable_sort(result.order.begin(), result.order.end(),
                   [&](uint32_t a, uint32_t b) { return ranks[a] < ranks[b]; });
  std::vector<Duration> arrival_of(ranks.size());
  Duration channel{0};
  for (const uint32_t recv : result.order) {
    channel += transfer_time(graph.recvs[recv].bytes, bandwidth);
    arrival_of[recv] = channel;
  }
  std::vector<Duration> ends(graph.ops.size());
  std::vector<uint32_t> arrivals;
  for (uint32_t op = 0; op < graph.ops.size(); ++op) {
    if (graph.ops[op].recv == kNoRecv) continue;
    ends[op] = arrival_of[graph.ops[op].recv];
    arrivals.push_back(op);
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [&](uint32_t a, uint32_t b) { return ends[a] < ends[b]; });
  result.op_ends = Timeline(graph, std::move(ends)).run(arrivals);
  const Duration compute = graph.compute_time();
  result.makespan = channel;
  for (const Duration end : result.op_ends) result.makespan = std::max(result.makespan, end);
  result.upper = channel + compute;
  result.lower = std::max(channel, compute);
  result.efficiency = efficiency_of(result.makespan, result.upper, result.lower);
  if (result.lower > Duration(0)) {
    result.speedup = static_cast<double>((result.upper - result.lower).count()) /
                     static_cast<double>(result.lower.count());
  }
  return result;
}

double efficiency_of(Duration measured, Duration upper, Duration lower) {
  if (upper == lower) return 1;
  return static_cast<double>((upper - measured).count()) / static_cast<double>((upper - lower).count());
}

}  // namespace tictac
