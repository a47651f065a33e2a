#include "control/replay/conductor.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "control/order/simulator.h"
#include "control/replay/flip.h"
#include "control/replay/process.h"
#include "control/replay/schedules.h"
#include "control/replay/sidecars.h"
#include "control/replay/step_runner.h"
#include "control/replay/temporary_folder.h"

namespace tictac::replay {
namespace {

ModelGraph stretched(ModelGraph graph, double time_scale) {
  for (Op& op : graph.ops)
    op.time = Duration(static_cast<int64_t>(static_cast<double>(op.time.count()) * time_scale));
  return graph;
}

Rate payload_rate(Rate link_rate, uint32_t mtu) {
  return Rate(static_cast<uint64_t>(static_cast<double>(link_rate.value()) * payload_share(mtu)));
}

class Conductor {
 public:
  Conductor(const Plan& plan, const Options& options, StepRunner& runner)
      : plan_(plan),
        options_(options),
        runner_(runner),
        graph_(stretched(plan.graph, plan.time_scale)),
        payload_(payload_rate(options.link_rate, options.mtu)),
        schedules_(Sidecars::daemon_socket(plan.folder), plan, options.file_order, payload_) {}

  absl::StatusOr<Result> run() {
    Result result = describe();
    absl::Status status = runner_.connect();
    for (PolicyResult& policy : result.policies) {
      if (status.ok()) status = schedules_.push_first(policy.policy, &policy.schedule_version);
    }
    if (status.ok()) status = run_steps(result);
    if (!status.ok()) return status;
    if (options_.flip) {
      auto flipped = run_flip(plan_, runner_, schedules_, predicted("tic", 0), options_.seed);
      if (!flipped.ok()) return flipped.status();
      result.flip.push_back(*std::move(flipped));
    }
    return result;
  }

 private:
  Result describe() const {
    Result result;
    result.model = plan_.graph.model;
    result.train = !plan_.graph.sends.empty();
    result.options = options_;
    result.transfers = graph_.recvs.size();
    result.bytes_per_step = graph_.recv_bytes();
    const Duration communication = graph_.communication_time(payload_);
    result.upper = communication + graph_.compute_time();
    result.lower = std::max(communication, graph_.compute_time());
    for (const std::string& policy : options_.policies)
      result.policies.push_back({.policy = policy, .steps = {}, .counters = {}});
    return result;
  }

  absl::Status run_steps(Result& result) {
    std::vector<std::set<uint64_t>> orders(result.policies.size());
    std::vector<Duration> sums(result.policies.size());
    for (uint64_t step = 0; step < options_.warm_up + options_.steps; ++step) {
      for (uint32_t job = 0; job < result.policies.size(); ++job) {
        PolicyResult& policy = result.policies[job];
        const uint64_t seed = options_.seed + step * 1'000'003 + job;
        const absl::Status pushed = schedules_.push_for_step(policy.policy, seed, &policy.schedule_version);
        if (!pushed.ok()) return pushed;
        const auto outcome = runner_.run(job, step * result.policies.size() + job + 1, seed, nullptr, {});
        if (!outcome.ok()) return outcome.status();
        tell(policy.policy, step, outcome->step);
        policy.mismatches += outcome->mismatches;
        policy.bytes_verified += outcome->bytes_verified;
        if (step < options_.warm_up) continue;
        policy.steps.push_back(outcome->step);
        orders[job].insert(outcome->order_hash);
        policy.counters += outcome->counters;
        sums[job] += predicted(policy.policy, seed);
      }
    }
    for (size_t job = 0; job < result.policies.size(); ++job) {
      result.policies[job].distinct_orders = orders[job].size();
      result.policies[job].predicted = sums[job] / static_cast<int64_t>(options_.steps);
    }
    return absl::OkStatus();
  }

  Duration predicted(const std::string& policy, uint64_t seed) const {
    return simulate(graph_, schedules_.expected_ranks(policy, seed), payload_).makespan;
  }

  void tell(const std::string& policy, uint64_t step, Duration took) const {
    if (!options_.progress) return;
    const bool warm_up = step < options_.warm_up;
    options_.progress(warm_up ? absl::StrCat("warming up: ", policy, " ", format_duration(took))
                              : absl::StrCat("step ", step - options_.warm_up + 1, "/", options_.steps, ": ",
                                             policy, " ", format_duration(took)));
  }

  const Plan& plan_;
  const Options& options_;
  StepRunner& runner_;
  const ModelGraph graph_;  // computation stretched
  const Rate payload_;
  Schedules schedules_;
};

Plan make_plan(const ModelGraph& graph, const Options& options, const std::string& folder) {
  Plan plan{.graph = graph,
            .jobs = {},
            .time_scale = options.time_scale,
            .folder = folder,
            .ps_socket = Sidecars::native_socket(folder, "ps0"),
            .worker_socket = Sidecars::native_socket(folder, "worker0")};
  for (const std::string& policy : options.policies) plan.jobs.push_back(absl::StrCat("replay-", policy));
  if (options.flip) plan.jobs.emplace_back("replay-flip");
  return plan;
}

// Leaves all running until a signal, or until one of the processes ends.
absl::Status keep(const Plan& plan, StepRunner& runner) {
  std::fprintf(stderr,
               "\nall is left running in %s until Ctrl-C; look at it with\n  tictac status --socket %s\n  "
               "tictac-proxy --stats %s\n  tail -f %s/*.log\n",
               plan.folder.c_str(), Sidecars::daemon_socket(plan.folder).c_str(), plan.worker_socket.c_str(),
               plan.folder.c_str());
  while (true) {
    const absl::Status alive = runner.running();
    if (absl::IsCancelled(alive)) return absl::OkStatus();
    if (!alive.ok()) return alive;
    sleep_for(StepRunner::kAliveEvery);
  }
}

}  // namespace

Rate balanced_rate(const ModelGraph& graph, double time_scale, uint32_t mtu) {
  const double seconds = std::chrono::duration<double>(graph.compute_time()).count() * time_scale;
  const double payload = static_cast<double>(graph.recv_bytes()) * 8 / std::max(seconds, 1e-9);
  return Rate(std::max<uint64_t>(static_cast<uint64_t>(payload / payload_share(mtu)), 1'000'000));
}

absl::StatusOr<Result> replay(const ModelGraph& graph, const Options& options) {
  auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  const Plan plan = make_plan(graph, options, folder->path());
  const auto runner = StepRunner::start(plan, options.link_rate, options.mtu);
  if (!runner.ok()) return runner.status();
  auto result = Conductor(plan, options, **runner).run();
  if (!result.ok() || !options.keep) return result;
  const absl::Status kept = keep(plan, **runner);
  if (!kept.ok()) return kept;
  return result;
}

}  // namespace tictac::replay
