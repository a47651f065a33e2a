#include "control/replay/report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "control/order/simulator.h"
#include "control/replay/statistics.h"

namespace tictac::replay {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kFlipLines = 12;  // of the receiver's log in the table

const PolicyResult* find_random(const Result& result) {
  for (const PolicyResult& policy : result.policies) {
    if (policy.policy == "random") return &policy;
  }
  return nullptr;
}

double ratio(Duration a, Duration b) {
  return static_cast<double>(a.count()) / static_cast<double>(std::max<int64_t>(b.count(), 1));
}

Json to_json(const Result& result, const PolicyResult& policy, const PolicyResult* random) {
  const Duration middle = median(policy.steps);
  Json run = {{"policy", policy.policy},
              {"steps", policy.steps.size()},
              {"step_ns",
               {{"median", middle.count()},
                {"p5", percentile(policy.steps, 5).count()},
                {"p95", percentile(policy.steps, 95).count()}}},
              {"predicted_ns", policy.predicted.count()},
              {"efficiency", efficiency_of(middle, result.upper, result.lower)}};
  if (random) {
    const Interval interval = gain_interval(random->steps, policy.steps);
    run["gain_over_random"] = ratio(median(random->steps), middle) - 1;
    run["gain_interval"] = {interval.low, interval.high};
    run["predicted_gain"] = ratio(random->predicted, policy.predicted) - 1;
  } else {
    run["gain_over_random"] = nullptr;
  }
  run["inversions"] = policy.counters.inversions;
  run["late_packets"] = policy.counters.late_packets;
  run["distinct_orders"] = policy.distinct_orders;
  run["packets"] = policy.counters.packets;
  run["retransmits"] = policy.counters.retransmits;
  run["bytes_verified"] = policy.bytes_verified;
  run["mismatches"] = policy.mismatches;
  run["schedule_version"] = policy.schedule_version;
  return run;
}

Json to_json(const FlipResult& flip) {
  Json log = Json::array();
  for (const Completion& completion : flip.completions) {
    log.push_back({{"name", flip.names[completion.recv]},
                   {"schedule_version", completion.schedule_version},
                   {"rank", completion.rank},
                   {"time_ns", completion.time_ns - flip.completions.front().time_ns}});
  }
  return {{"completed_before", flip.completed_before},
          {"completed_after", flip.completed_after},
          {"in_new_order", flip.reversed_share},
          {"log", log}};
}

std::string flip_table(const FlipResult& flip) {
  std::string text = absl::StrFormat(
      "\nreversed order pushed in the middle of a step: %d tensors came before, %d after; %.0f %% of their "
      "neighbours "
      "in the new order\nthe receiver's log around it:\n%12s %8s %6s  %s\n",
      flip.completed_before, flip.completed_after, flip.reversed_share * 100, "time", "version", "rank",
      "tensor");
  const size_t begin = flip.completed_before > kFlipLines / 2 ? flip.completed_before - kFlipLines / 2 : 0;
  for (size_t i = begin; i < std::min(begin + kFlipLines, flip.completions.size()); ++i) {
    const Completion& c = flip.completions[i];
    absl::StrAppendFormat(&text, "%12s %8d %6d  %s\n",
                          format_duration(Duration(c.time_ns - flip.completions.front().time_ns)),
                          c.schedule_version, c.rank, flip.names[c.recv]);
  }
  return text;
}

}  // namespace

Json to_json(const Result& result) {
  Json runs = Json::array();
  for (const PolicyResult& policy : result.policies)
    runs.push_back(to_json(result, policy, find_random(result)));
  Json document = {{"model", result.model},
                   {"mode", result.train ? "train" : "inference"},
                   {"link_rate_bps", result.options.link_rate.value()},
                   {"time_scale", result.options.time_scale},
                   {"workers", 1},
                   {"ps", 1},
                   {"transfers", result.transfers},
                   {"bytes_per_step", result.bytes_per_step},
                   {"upper_ns", result.upper.count()},
                   {"lower_ns", result.lower.count()},
                   {"mtu", result.options.mtu},
                   {"runs", runs}};
  for (const FlipResult& flip : result.flip) document["flip"] = to_json(flip);
  return document;
}

std::string to_table(const Result& result) {
  std::string text = absl::StrFormat("%s %s: %d tensors, %s a step, link %s, time scale %g, U %s, L %s\n",
                                     result.model, result.train ? "train" : "inference", result.transfers,
                                     format_bytes(result.bytes_per_step),
                                     format_rate(result.options.link_rate), result.options.time_scale,
                                     format_duration(result.upper), format_duration(result.lower));
  absl::StrAppendFormat(&text, "%-8s %6s %11s %11s %11s %11s %7s %9s %10s %5s %5s %7s %6s %9s\n", "policy",
                        "steps", "median", "p5", "p95", "predicted", "E", "gain", "(interval)", "inv.",
                        "late", "orders", "retr.", "mismatch");
  const PolicyResult* random = find_random(result);
  for (const PolicyResult& policy : result.policies) {
    const Duration middle = median(policy.steps);
    std::string gain = "-";
    std::string interval;
    if (random) {
      const Interval i = gain_interval(random->steps, policy.steps);
      gain = absl::StrFormat("%.1f %%", (ratio(median(random->steps), middle) - 1) * 100);
      interval = absl::StrFormat("(%.0f..%.0f)", i.low * 100, i.high * 100);
    }
    absl::StrAppendFormat(
        &text, "%-8s %6d %11s %11s %11s %11s %7.3f %9s %10s %5d %5d %7d %6d %9d\n", policy.policy,
        policy.steps.size(), format_duration(middle), format_duration(percentile(policy.steps, 5)),
        format_duration(percentile(policy.steps, 95)), format_duration(policy.predicted),
        efficiency_of(middle, result.upper, result.lower), gain, interval, policy.counters.inversions,
        policy.counters.late_packets, policy.distinct_orders, policy.counters.retransmits, policy.mismatches);
  }
  for (const FlipResult& flip : result.flip) text += flip_table(flip);
  return text;
}

}  // namespace tictac::replay
