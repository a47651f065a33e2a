#include "control/replay/schedules.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "control/order/permutation.h"
#include "control/replay/process.h"

namespace tictac::replay {
namespace {

constexpr std::array<std::string_view, 7> kPolicies = {"random", "fifo",    "tic", "tac",
                                                       "auto",   "reverse", "file"};
constexpr Duration kPushLimit = 5s;
constexpr Duration kPushPoll = 1ms;

}  // namespace

bool is_replay_policy(const std::string& name) {
  return std::find(kPolicies.begin(), kPolicies.end(), name) != kPolicies.end();
}

Schedules::Schedules(const std::string& daemon_socket, const Plan& plan, const Order& file_order,
                     Rate payload)
    : client_(daemon_socket), plan_(plan), file_order_(file_order), payload_(payload) {}

std::vector<uint32_t> Schedules::expected_ranks(const std::string& policy, uint64_t seed) const {
  const size_t n = plan_.graph.recvs.size();
  // Under fifo the PS sends in the order in which the worker asks.
  if (policy == "random") return ranks_of_permutation(shuffled(n, ~seed));
  if (policy == "fifo") return ranks_of_permutation(shuffled(n, seed));
  if (policy == "file") return *ranks_of(plan_.graph, file_order_, nullptr);
  const auto order = compute_order(plan_.graph, {.policy = *parse_policy(policy), .bandwidth = payload_});
  return *ranks_of(plan_.graph, *order, nullptr);
}

absl::Status Schedules::push(const std::string& job, const std::vector<uint32_t>* ranks, uint64_t* version) {
  control::PushRequest request;
  request.set_job(job);
  if (!ranks) request.set_default_rank(0);
  for (uint32_t i = 0; ranks && i < ranks->size(); ++i) {
    control::Entry& entry = *request.add_entries();
    entry.set_name(plan_.graph.recvs[i].name);
    entry.set_rank((*ranks)[i]);
  }
  const auto pushed = client_.push(request, kPushLimit);
  if (!pushed.ok()) return pushed.status();
  *version = pushed->version();
  return wait_until_in_force(job, *version);
}

// At the start the sidecars may not have found the daemon yet, so this is more than waiting for who is
// connected.
absl::Status Schedules::wait_until_in_force(const std::string& job, uint64_t version) {
  constexpr size_t kSidecars = 2;
  size_t in_force = 0;
  for (Duration waited{0}; waited < kPushLimit; waited += kPushPoll) {
    const auto status = client_.status(job, kPushLimit);
    if (!status.ok()) return status.status();
    in_force = 0;
    for (const auto& one : status->jobs()) {
      for (const auto& proxy : one.proxies()) {
        if (proxy.newest() == control::NACKED)
          return absl::FailedPreconditionError(
              absl::StrCat(proxy.proxy(), " refuses a schedule: ", proxy.reason()));
        in_force += proxy.in_force() == version;
      }
    }
    if (in_force == kSidecars) return absl::OkStatus();
    sleep_for(kPushPoll);
  }
  return absl::DeadlineExceededError(absl::StrCat("schedule ", version, " of ", job, " is in force at ",
                                                  in_force, " of ", kSidecars, " sidecars"));
}

absl::Status Schedules::push_first(const std::string& policy, uint64_t* version) {
  if (policy == "auto" || policy == "random") return absl::OkStatus();
  const std::string job = absl::StrCat("replay-", policy);
  if (policy == "fifo") return push(job, nullptr, version);
  const std::vector<uint32_t> ranks = expected_ranks(policy, 0);
  return push(job, &ranks, version);
}

absl::Status Schedules::push_for_step(const std::string& policy, uint64_t seed, uint64_t* version) {
  if (policy != "random") return absl::OkStatus();
  const std::vector<uint32_t> ranks = expected_ranks(policy, seed);
  return push("replay-random", &ranks, version);
}

absl::Status Schedules::push_tic(const std::string& job, bool reversed, uint64_t* version) {
  std::vector<uint32_t> ranks = expected_ranks("tic", 0);
  const uint32_t last = *std::max_element(ranks.begin(), ranks.end());
  for (uint32_t& rank : ranks) rank = reversed ? last - rank : rank;
  return push(job, &ranks, version);
}

}  // namespace tictac::replay
