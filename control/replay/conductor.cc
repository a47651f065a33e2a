#include "control/replay/conductor.h"

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "control/order/simulator.h"
#include "control/replay/interrupt.h"
#include "control/replay/parameter_server.h"
#include "control/replay/process.h"
#include "control/replay/schedules.h"
#include "control/replay/shuffle.h"
#include "control/replay/sidecars.h"
#include "control/replay/worker.h"

namespace tictac::replay {
namespace {

constexpr Duration kConnectLimit = 60s;  // touching the tensors' memory takes its time
constexpr Duration kCommandLimit = 70s;
constexpr Duration kAliveEvery = 200ms;
constexpr Duration kSettle = 50ms;   // from what an application sees of a death to the death itself
constexpr double kFlipAt = 0.25;     // of the predicted step
constexpr int kFlipTries = 6;        // on a busy host a push may come when the step is nearly over
constexpr uint64_t kFlipLeast = 10;  // tensors that must be left to be turned round

ModelGraph stretched(ModelGraph graph, double time_scale) {
  for (Op& op : graph.ops)
    op.time = Duration(static_cast<int64_t>(static_cast<double>(op.time.count()) * time_scale));
  return graph;
}

Rate payload_rate(Rate link_rate, uint32_t mtu) {
  return Rate(static_cast<uint64_t>(static_cast<double>(link_rate.value()) * payload_share(mtu)));
}

// An application process and the conductor's end of its channel.
struct Application {
  Process process;
  Channel channel;
};

absl::StatusOr<Application> start_application(const char* name, const Plan& plan,
                                              void (*body)(const Plan&, Channel)) {
  auto pair = Channel::make_pair();
  if (!pair.ok()) return pair.status();
  auto& [ours, theirs] = *pair;
  auto process = Process::fork_into(name, [&plan, &ours = ours, &theirs = theirs, body] {
    ours = Channel();
    body(plan, std::move(theirs));
  });
  if (!process.ok()) return process.status();
  return Application{*std::move(process), std::move(ours)};
}

class Conductor {
 public:
  Conductor(const Plan& plan, const Options& options, Application ps, Application worker, Sidecars sidecars)
      : plan_(plan),
        options_(options),
        graph_(stretched(plan.graph, plan.time_scale)),
        payload_(payload_rate(options.link_rate, options.mtu)),
        ps_(std::move(ps)),
        worker_(std::move(worker)),
        sidecars_(std::move(sidecars)),
        schedules_(Sidecars::daemon_socket(plan.folder), plan, options.file_order, payload_) {}

  // All at once; their own ends then find each of them stopped or stopping.
  ~Conductor() {
    for (const Process& process : sidecars_.processes()) process.signal(SIGTERM);
    for (const Application* application : {&ps_, &worker_}) application->process.signal(SIGTERM);
  }
  Conductor(const Conductor&) = delete;
  Conductor& operator=(const Conductor&) = delete;

  absl::StatusOr<Result> run() {
    Result result = describe();
    for (Application* application : {&ps_, &worker_}) {
      const absl::Status sent = application->channel.send({.kind = CommandKind::kConnect});
      if (!sent.ok()) return reason_of(sent);
    }
    for (Application* application : {&ps_, &worker_}) {
      const auto connected = reply_of(*application, kConnectLimit, nullptr);
      if (!connected.ok()) return connected.status();
      last_[application == &worker_] = connected->counters;
    }
    for (PolicyResult& policy : result.policies) {
      const absl::Status pushed = schedules_.push_first(policy.policy, &policy.schedule_version);
      if (!pushed.ok()) return pushed;
    }
    const absl::Status ran = run_steps(result);
    if (!ran.ok()) return ran;
    if (options_.flip) {
      auto flipped = run_flip();
      if (!flipped.ok()) return flipped.status();
      result.flip.push_back(*std::move(flipped));
    }
    return result;
  }

  // Leaves all running until a signal, or until one of the processes ends.
  absl::Status keep() {
    std::fprintf(stderr,
                 "\nall is left running in %s until Ctrl-C; look at it with\n  tictac status --socket %s\n  "
                 "tictac-proxy --stats %s\n  tail -f %s/*.log\n",
                 plan_.folder.c_str(), Sidecars::daemon_socket(plan_.folder).c_str(),
                 plan_.worker_socket.c_str(), plan_.folder.c_str());
    while (true) {
      const absl::Status alive = all_running();
      if (absl::IsCancelled(alive)) return absl::OkStatus();
      if (!alive.ok()) return alive;
      sleep_for(kAliveEvery);
    }
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
    std::vector<Duration> predicted(result.policies.size());
    for (uint64_t step = 0; step < options_.warm_up + options_.steps; ++step) {
      for (uint32_t job = 0; job < result.policies.size(); ++job) {
        PolicyResult& policy = result.policies[job];
        const uint64_t seed = options_.seed + step * 1'000'003 + job;
        const absl::Status pushed = schedules_.push_for_step(policy.policy, seed, &policy.schedule_version);
        if (!pushed.ok()) return pushed;
        const auto outcome = run_step(job, step * result.policies.size() + job + 1, seed, nullptr, {});
        if (!outcome.ok()) return outcome.status();
        tell(policy.policy, step, outcome->step);
        policy.mismatches += outcome->mismatches;
        policy.bytes_verified += outcome->bytes_verified;
        if (step < options_.warm_up) continue;
        policy.steps.push_back(outcome->step);
        orders[job].insert(outcome->order_hash);
        add(policy.counters, outcome->counters);
        predicted[job] += simulate(graph_, schedules_.expected_ranks(policy.policy, seed), payload_).makespan;
      }
    }
    for (size_t job = 0; job < result.policies.size(); ++job) {
      result.policies[job].distinct_orders = orders[job].size();
      result.policies[job].predicted = predicted[job] / static_cast<int64_t>(options_.steps);
    }
    return absl::OkStatus();
  }

  struct Outcome {
    Duration step{0};
    uint64_t order_hash = 0;
    uint64_t bytes_verified = 0;
    uint64_t mismatches = 0;
    Counters counters;
  };

  // `meanwhile` runs in the conductor while the step runs.
  absl::StatusOr<Outcome> run_step(uint32_t job, uint64_t step, uint64_t seed,
                                   std::vector<Completion>* completions,
                                   const std::function<absl::Status()>& meanwhile) {
    // Here too: where steps are short no reply is ever waited for long enough to look.
    const absl::Status alive = all_running();
    if (!alive.ok()) return alive;
    for (Application* application : {&ps_, &worker_}) {
      const auto prepared =
          ask(*application, {.kind = CommandKind::kPrepare, .job = job, .step = step}, nullptr);
      if (!prepared.ok()) return prepared.status();
    }
    absl::Status sent =
        worker_.channel.send({.kind = CommandKind::kRun, .job = job, .step = step, .seed = seed});
    if (sent.ok() && meanwhile) sent = meanwhile();
    if (!sent.ok()) return reason_of(sent);
    const auto ran = reply_of(worker_, kCommandLimit, completions);
    if (!ran.ok()) return ran.status();
    const auto collected = ask(ps_, {.kind = CommandKind::kCollect, .job = job, .step = step}, nullptr);
    if (!collected.ok()) return collected.status();
    Outcome outcome{.step = Duration(std::max(ran->end_ns, collected->end_ns) - ran->start_ns),
                    .order_hash = ran->order_hash,
                    .bytes_verified = ran->bytes_verified + collected->bytes_verified,
                    .mismatches = ran->mismatches + collected->mismatches,
                    .counters = {}};
    add(outcome.counters, since(last_[0], collected->counters));
    add(outcome.counters, since(last_[1], ran->counters));
    last_ = {collected->counters, ran->counters};
    return outcome;
  }

  // Again until the push came in the middle of the step; the last try counts, whatever it was.
  absl::StatusOr<FlipResult> run_flip() {
    absl::StatusOr<FlipResult> result = absl::InternalError("no try");
    for (int i = 0; i < kFlipTries; ++i) {
      result = try_flip(static_cast<uint64_t>(i));
      if (!result.ok() || (result->completed_before > 0 && result->completed_after >= kFlipLeast)) break;
    }
    return result;
  }

  absl::StatusOr<FlipResult> try_flip(uint64_t attempt) {
    const auto job = static_cast<uint32_t>(plan_.jobs.size() - 1);  // the one beside the policies'
    uint64_t version = 0;
    const absl::Status pushed = schedules_.push_tic(plan_.jobs[job], false, &version);
    if (!pushed.ok()) return pushed;
    FlipResult result;
    const Duration predicted = simulate(graph_, schedules_.expected_ranks("tic", 0), payload_).makespan;
    const auto outcome = run_step(job, 1'000'000'007 + attempt, options_.seed, &result.completions, [&] {
      sleep_for(Duration(static_cast<int64_t>(static_cast<double>(predicted.count()) * kFlipAt)));
      return schedules_.push_tic(plan_.jobs[job], true, &version);
    });
    if (!outcome.ok()) return outcome.status();
    for (const RecvTensor& recv : graph_.recvs) result.names.push_back(recv.name);
    judge_flip(version, result);
    return result;
  }

  // What was on its way when the order turned may still come first; after that ranks (of the new version)
  // rise.
  static void judge_flip(uint64_t version, FlipResult& result) {
    uint64_t risen = 0;
    const Completion* previous = nullptr;
    for (const Completion& completion : result.completions) {
      if (completion.schedule_version < version) {
        ++result.completed_before;
        continue;
      }
      ++result.completed_after;
      if (previous) risen += completion.rank >= previous->rank;
      previous = &completion;
    }
    if (result.completed_after > 1) {
      result.reversed_share = static_cast<double>(risen) / static_cast<double>(result.completed_after - 1);
    }
  }

  absl::StatusOr<Reply> ask(Application& application, const Command& command,
                            std::vector<Completion>* completions) {
    const absl::Status sent = application.channel.send(command);
    if (!sent.ok()) return reason_of(sent);
    return reply_of(application, kCommandLimit, completions);
  }

  // Waits for the reply, and looks meanwhile whether all processes still run.
  absl::StatusOr<Reply> reply_of(Application& application, Duration limit,
                                 std::vector<Completion>* completions) {
    for (Duration waited{0}; waited < limit; waited += kAliveEvery) {
      auto reply = application.channel.receive_reply(kAliveEvery, completions);
      if (absl::IsNotFound(reply.status())) {
        const absl::Status alive = all_running();
        if (!alive.ok()) return alive;
        continue;
      }
      if (!reply.ok()) return reason_of(reply.status());
      return reply->ok ? reply : reason_of(absl::UnavailableError(reply->error.data()));
    }
    return absl::DeadlineExceededError(absl::StrCat(application.process.name(), " does not answer"));
  }

  // A dead process is the reason, what another one saw of it the consequence.
  absl::Status reason_of(const absl::Status& seen) {
    sleep_for(kSettle);
    const absl::Status alive = all_running();
    return alive.ok() ? seen : alive;
  }

  // A signal comes first: at Ctrl-C the terminal stops the sidecars too, and that is no fault of theirs.
  absl::Status all_running() {
    absl::Status status = interrupted();
    if (status.ok()) status = sidecars_.proxies_running();
    if (status.ok()) status = ps_.process.running();
    if (status.ok()) status = worker_.process.running();
    return status;
  }

  void tell(const std::string& policy, uint64_t step, Duration took) const {
    if (!options_.progress) return;
    const bool warm_up = step < options_.warm_up;
    options_.progress(warm_up ? absl::StrCat("warming up: ", policy, " ", format_duration(took))
                              : absl::StrCat("step ", step - options_.warm_up + 1, "/", options_.steps, ": ",
                                             policy, " ", format_duration(took)));
  }

  static void add(Counters& sum, const Counters& more) {
    sum.inversions += more.inversions;
    sum.late_packets += more.late_packets;
    sum.packets += more.packets;
    sum.retransmits += more.retransmits;
  }
  static Counters since(const Counters& before, const Counters& after) {
    return {.inversions = after.inversions - before.inversions,
            .late_packets = after.late_packets - before.late_packets,
            .packets = after.packets - before.packets,
            .retransmits = after.retransmits - before.retransmits};
  }

  const Plan& plan_;
  const Options& options_;
  const ModelGraph graph_;  // computation stretched
  const Rate payload_;
  Application ps_;
  Application worker_;
  Sidecars sidecars_;
  Schedules schedules_;
  std::array<Counters, 2> last_;  // PS, worker
};

}  // namespace

Rate balanced_rate(const ModelGraph& graph, double time_scale, uint32_t mtu) {
  const double seconds = std::chrono::duration<double>(graph.compute_time()).count() * time_scale;
  const double payload = static_cast<double>(graph.recv_bytes()) * 8 / std::max(seconds, 1e-9);
  return Rate(std::max<uint64_t>(static_cast<uint64_t>(payload / payload_share(mtu)), 1'000'000));
}

absl::StatusOr<Result> replay(const ModelGraph& graph, const Options& options) {
  auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  Plan plan{.graph = graph,
            .jobs = {},
            .time_scale = options.time_scale,
            .folder = folder->path(),
            .ps_socket = Sidecars::native_socket(folder->path(), "ps0"),
            .worker_socket = Sidecars::native_socket(folder->path(), "worker0")};
  for (const std::string& policy : options.policies) plan.jobs.push_back(absl::StrCat("replay-", policy));
  if (options.flip) plan.jobs.emplace_back("replay-flip");
  // Before any thread: the applications are copies of this process.
  auto ps = start_application("the PS application", plan, run_parameter_server);
  if (!ps.ok()) return ps.status();
  auto worker = start_application("the worker application", plan, run_worker);
  if (!worker.ok()) return worker.status();
  catch_interrupts();
  const uint64_t arena = (graph.recv_bytes() + graph.send_bytes() + (2 << 20)) * plan.jobs.size();
  auto sidecars = Sidecars::start(
      {.link_rate = options.link_rate, .mtu = options.mtu, .arena_bytes = arena, .folder = folder->path()});
  if (!sidecars.ok()) return sidecars.status();
  Conductor conductor(plan, options, *std::move(ps), *std::move(worker), *std::move(sidecars));
  auto result = conductor.run();
  if (!result.ok() || !options.keep) return result;
  const absl::Status kept = conductor.keep();
  if (!kept.ok()) return kept;
  return result;
}

}  // namespace tictac::replay
