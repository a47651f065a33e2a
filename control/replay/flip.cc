#include "control/replay/flip.h"

#include "control/replay/process.h"

namespace tictac::replay {
namespace {

constexpr double kFlipAt = 0.25;                // of the predicted step
constexpr int kTries = 6;                       // on a busy host a push may come when the step is nearly over
constexpr uint64_t kLeastAfter = 10;            // tensors that must be left to be turned round
constexpr uint64_t kFirstStep = 1'000'000'007;  // a number that no other step of the replay has

absl::StatusOr<FlipResult> try_flip(const Plan& plan, StepRunner& runner, Schedules& schedules,
                                    Duration predicted, uint64_t seed, uint64_t attempt) {
  const auto job = static_cast<uint32_t>(plan.jobs.size() - 1);
  uint64_t version = 0;
  const absl::Status pushed = schedules.push_tic(plan.jobs[job], false, &version);
  if (!pushed.ok()) return pushed;
  FlipResult result;
  const auto outcome = runner.run(job, kFirstStep + attempt, seed, &result.completions, [&] {
    sleep_for(Duration(static_cast<int64_t>(static_cast<double>(predicted.count()) * kFlipAt)));
    return schedules.push_tic(plan.jobs[job], true, &version);
  });
  if (!outcome.ok()) return outcome.status();
  for (const RecvTensor& recv : plan.graph.recvs) result.names.push_back(recv.name);
  judge_flip(version, result);
  return result;
}

}  // namespace

absl::StatusOr<FlipResult> run_flip(const Plan& plan, StepRunner& runner, Schedules& schedules,
                                    Duration predicted, uint64_t seed) {
  absl::StatusOr<FlipResult> result = absl::InternalError("no try");
  for (int i = 0; i < kTries; ++i) {
    result = try_flip(plan, runner, schedules, predicted, seed, static_cast<uint64_t>(i));
    if (!result.ok() || (result->completed_before > 0 && result->completed_after >= kLeastAfter)) break;
  }
  return result;
}

// What was on its way when the order turned may still come first; after that ranks (of the new version) rise.
void judge_flip(uint64_t version, FlipResult& result) {
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

}  // namespace tictac::replay
