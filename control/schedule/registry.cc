#include "control/schedule/registry.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "control/schedule/schedule_limits.h"

namespace tictac {
namespace {

absl::Status check_entries(const control::PushRequest& request) {
  if (static_cast<size_t>(request.entries_size()) > kMostEntries) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", kMostEntries, " entries"));
  }
  absl::flat_hash_set<absl::string_view> names;
  for (const control::Entry& entry : request.entries()) {
    if (entry.name().empty() || entry.name().size() > kMostTensorName) {
      return absl::InvalidArgumentError(
          absl::StrCat("a tensor's name must have 1 to ", kMostTensorName, " bytes"));
    }
    if (entry.rank() > kMostRank) {
      return absl::InvalidArgumentError(absl::StrCat("rank ", entry.rank(), " of \"",
                                                     absl::CEscape(entry.name()), "\" is above ", kMostRank));
    }
    if (!names.insert(entry.name()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", absl::CEscape(entry.name()), "\" has two entries"));
    }
  }
  if (request.has_default_rank() && request.default_rank() > kMostRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("default rank ", request.default_rank(), " is above ", kMostRank));
  }
  return absl::OkStatus();
}

}  // namespace

void Registry::restore(SchedulePtr schedule, int64_t pushed_ms) {
  const std::string job = schedule->job();
  jobs_[job] = {std::move(schedule), pushed_ms};
}

absl::StatusOr<SchedulePtr> Registry::prepare(const control::PushRequest& request) const {
  if (request.job().empty() || request.job().size() > kMostNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a job's name must have 1 to ", kMostNameBytes, " bytes"));
  }
  const auto known = jobs_.find(request.job());
  // A daemon that lost its state must not give a version again that a proxy still has in force.
  uint64_t last = known == jobs_.end() ? 0 : known->second.newest->version();
  for (const auto& [name, proxy] : proxies_) {
    const auto stand = proxy.jobs.find(request.job());
    if (stand != proxy.jobs.end()) last = std::max(last, stand->second.in_force);
  }
  if (known == jobs_.end() && jobs_.size() >= kMostJobs) {
    return absl::ResourceExhaustedError(absl::StrCat("there are ", kMostJobs, " jobs already"));
  }
  const absl::Status entries = check_entries(request);
  if (!entries.ok()) return entries;
  auto schedule = std::make_shared<control::Schedule>();
  schedule->set_job(request.job());
  schedule->set_version(last + 1);
  *schedule->mutable_entries() = request.entries();
  if (request.has_default_rank()) schedule->set_default_rank(request.default_rank());
  return SchedulePtr(std::move(schedule));
}

void Registry::commit(SchedulePtr schedule, int64_t now_ms) {
  const std::string job = schedule->job();
  jobs_[job] = {std::move(schedule), now_ms};
}

absl::Status Registry::connect(const control::WatchRequest::Hello& hello, int64_t now_ms) {
  if (hello.proxy().empty() || hello.proxy().size() > kMostNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a proxy's name must have 1 to ", kMostNameBytes, " bytes"));
  }
  if (!proxies_.contains(hello.proxy()) && proxies_.size() >= kMostProxies) {
    // Forget one that has gone before refusing one that is here.
    const auto gone = std::find_if(proxies_.begin(), proxies_.end(),
                                   [](const auto& p) { return p.second.connections == 0; });
    if (gone == proxies_.end())
      return absl::ResourceExhaustedError(absl::StrCat("there are ", kMostProxies, " proxies already"));
    proxies_.erase(gone);
  }
  Proxy& proxy = proxies_[hello.proxy()];
  if (proxy.connections++ == 0) proxy.since_ms = now_ms;
  proxy.jobs.clear();
  for (const auto& in_force : hello.in_force()) {
    if (proxy.jobs.size() >= kMostJobs) break;
    if (in_force.version() > kMostVersion) continue;
    proxy.jobs[in_force.job()] = {
        .in_force = in_force.version(), .answered = in_force.version(), .accepted = true, .reason = {}};
  }
  return absl::OkStatus();
}

void Registry::disconnect(const std::string& proxy, int64_t now_ms) {
  const auto found = proxies_.find(proxy);
  if (found == proxies_.end() || found->second.connections == 0) return;
  if (--found->second.connections == 0) found->second.since_ms = now_ms;
}

void Registry::answer(const std::string& proxy, const control::WatchRequest::Answer& answer) {
  const auto found = proxies_.find(proxy);
  const auto job = jobs_.find(answer.job());
  if (found == proxies_.end() || job == jobs_.end()) return;
  if (answer.version() > job->second.newest->version()) return;  // was never sent
  Stand& stand = found->second.jobs[answer.job()];
  stand.answered = answer.version();
  stand.accepted = answer.accepted();
  stand.reason = answer.reason();
  if (answer.accepted()) stand.in_force = answer.version();
}

std::vector<SchedulePtr> Registry::all_newest() const {
  std::vector<SchedulePtr> all;
  for (const auto& [name, job] : jobs_) all.push_back(job.newest);
  return all;
}

control::Standing Registry::standing_of(const Stand* stand, uint64_t version) {
  if (!stand || stand->answered != version) return control::WAITING;
  return stand->accepted ? control::ACKED : control::NACKED;
}

control::StatusReply Registry::status(const std::string& only_job) const {
  control::StatusReply reply;
  for (const auto& [name, job] : jobs_) {
    if (!only_job.empty() && name != only_job) continue;
    control::JobStatus& status = *reply.add_jobs();
    status.set_job(name);
    status.set_version(job.newest->version());
    status.set_entries(static_cast<uint64_t>(job.newest->entries_size()));
    if (job.newest->has_default_rank()) status.set_default_rank(job.newest->default_rank());
    status.set_pushed_unix_ms(job.pushed_ms);
    for (const auto& [proxy_name, proxy] : proxies_) {
      const auto stand = proxy.jobs.find(name);
      if (proxy.connections == 0 && stand == proxy.jobs.end()) continue;
      const Stand* known = stand == proxy.jobs.end() ? nullptr : &stand->second;
      auto& in_proxy = *status.add_proxies();
      in_proxy.set_proxy(proxy_name);
      in_proxy.set_in_force(known ? known->in_force : 0);
      in_proxy.set_newest(standing_of(known, job.newest->version()));
      in_proxy.set_connected(proxy.connections > 0);
      if (in_proxy.newest() == control::NACKED) in_proxy.set_reason(known->reason);
    }
  }
  for (const auto& [name, proxy] : proxies_) {
    control::ProxyStatus& status = *reply.add_proxies();
    status.set_proxy(name);
    status.set_connected(proxy.connections > 0);
    status.set_since_unix_ms(proxy.since_ms);
  }
  return reply;
}

}  // namespace tictac
