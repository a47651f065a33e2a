#include "control/replay/step_runner.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "control/replay/interrupt.h"
#include "control/replay/parameter_server.h"
#include "control/replay/worker.h"

namespace tictac::replay {
namespace {

constexpr Duration kConnectLimit = 60s;  // touching the tensors' memory takes its time
constexpr Duration kCommandLimit = kStepLimit + 10s;
constexpr Duration kSettle = 50ms;          // from what an application sees of a death to the death itself
constexpr uint64_t kArenaPerJob = 2 << 20;  // beside the tensors: names, alignment

}  // namespace

absl::StatusOr<std::unique_ptr<StepRunner>> StepRunner::start(const Plan& plan, Rate link_rate,
                                                              uint32_t mtu) {
  // Before any thread: the applications are copies of this process.
  auto ps = start_application("the PS application", plan, run_parameter_server);
  if (!ps.ok()) return ps.status();
  auto worker = start_application("the worker application", plan, run_worker);
  if (!worker.ok()) return worker.status();
  catch_interrupts();
  const uint64_t tensors = plan.graph.recv_bytes() + plan.graph.send_bytes();
  auto sidecars = Sidecars::start({.link_rate = link_rate,
                                   .mtu = mtu,
                                   .arena_bytes = (tensors + kArenaPerJob) * plan.jobs.size(),
                                   .folder = plan.folder});
  if (!sidecars.ok()) return sidecars.status();
  return std::unique_ptr<StepRunner>(
      new StepRunner(*std::move(ps), *std::move(worker), *std::move(sidecars)));
}

absl::StatusOr<StepRunner::Application> StepRunner::start_application(const char* name, const Plan& plan,
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

StepRunner::StepRunner(Application ps, Application worker, Sidecars sidecars)
    : ps_(std::move(ps)), worker_(std::move(worker)), sidecars_(std::move(sidecars)) {}

// All at once; their own ends then find each of them stopped or stopping.
StepRunner::~StepRunner() {
  for (const Process& process : sidecars_.processes()) process.signal(SIGTERM);
  for (const Application* application : applications()) application->process.signal(SIGTERM);
}

absl::Status StepRunner::connect() {
  for (Application* application : applications()) {
    const absl::Status sent = application->channel.send({.kind = CommandKind::kConnect});
    if (!sent.ok()) return reason_of(sent);
  }
  for (Application* application : applications()) {
    const auto connected = reply_of(*application, kConnectLimit, nullptr);
    if (!connected.ok()) return connected.status();
    application->counters = connected->counters;
  }
  return absl::OkStatus();
}

absl::StatusOr<StepOutcome> StepRunner::run(uint32_t job, uint64_t step, uint64_t seed,
                                            std::vector<Completion>* completions,
                                            const std::function<absl::Status()>& meanwhile) {
  // Here too: where steps are short no reply is ever waited for long enough to look.
  const absl::Status alive = running();
  if (!alive.ok()) return alive;
  for (Application* application : applications()) {
    const auto prepared = ask(*application, {.kind = CommandKind::kPrepare, .job = job, .step = step});
    if (!prepared.ok()) return prepared.status();
  }
  absl::Status sent =
      worker_.channel.send({.kind = CommandKind::kRun, .job = job, .step = step, .seed = seed});
  if (sent.ok() && meanwhile) sent = meanwhile();
  if (!sent.ok()) return reason_of(sent);
  const auto ran = reply_of(worker_, kCommandLimit, completions);
  if (!ran.ok()) return ran.status();
  const auto collected = ask(ps_, {.kind = CommandKind::kCollect, .job = job, .step = step});
  if (!collected.ok()) return collected.status();
  StepOutcome outcome{.step = Duration(std::max(ran->end_ns, collected->end_ns) - ran->start_ns),
                      .order_hash = ran->order_hash,
                      .bytes_verified = ran->bytes_verified + collected->bytes_verified,
                      .mismatches = ran->mismatches + collected->mismatches,
                      .counters = collected->counters - ps_.counters};
  outcome.counters += ran->counters - worker_.counters;
  ps_.counters = collected->counters;
  worker_.counters = ran->counters;
  return outcome;
}

absl::StatusOr<Reply> StepRunner::ask(Application& application, const Command& command) {
  const absl::Status sent = application.channel.send(command);
  if (!sent.ok()) return reason_of(sent);
  return reply_of(application, kCommandLimit, nullptr);
}

// Waits for the reply, and looks meanwhile whether all processes still run.
absl::StatusOr<Reply> StepRunner::reply_of(Application& application, Duration limit,
                                           std::vector<Completion>* completions) {
  for (Duration waited{0}; waited < limit; waited += kAliveEvery) {
    auto reply = application.channel.receive_reply(kAliveEvery, completions);
    if (absl::IsNotFound(reply.status())) {
      const absl::Status alive = running();
      if (!alive.ok()) return alive;
      continue;
    }
    if (!reply.ok()) return reason_of(reply.status());
    return reply->ok ? reply : reason_of(absl::UnavailableError(reply->error.data()));
  }
  return absl::DeadlineExceededError(absl::StrCat(application.process.name(), " does not answer"));
}

// A dead process is the reason, what another one saw of it the consequence.
absl::Status StepRunner::reason_of(const absl::Status& seen) {
  sleep_for(kSettle);
  const absl::Status alive = running();
  return alive.ok() ? seen : alive;
}

// A signal comes first: at Ctrl-C the terminal stops the sidecars too, and that is no fault of theirs.
absl::Status StepRunner::running() {
  absl::Status status = interrupted();
  if (status.ok()) status = sidecars_.proxies_running();
  if (status.ok()) status = ps_.process.running();
  if (status.ok()) status = worker_.process.running();
  return status;
}

}  // namespace tictac::replay
