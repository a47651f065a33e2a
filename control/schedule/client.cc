#include "control/schedule/client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "control/schedule/grpc_status.h"
#include "control/schedule/schedule_limits.h"

namespace tictac {
namespace {

constexpr auto kPollEvery = std::chrono::milliseconds(5);

std::chrono::system_clock::time_point deadline(Duration limit) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(limit);
}

bool all_answered(const control::StatusReply& status, uint64_t version) {
  for (const control::JobStatus& job : status.jobs()) {
    if (job.version() != version) continue;  // replaced meanwhile
    for (const auto& proxy : job.proxies()) {
      if (proxy.connected() && proxy.newest() == control::WAITING) return false;
    }
  }
  return true;
}

}  // namespace

std::shared_ptr<grpc::Channel> make_channel(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1500);  // in truth the limit of one connection attempt
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  arguments.SetMaxReceiveMessageSize(kMostMessageBytes);
  const std::string target = absl::StartsWith(socket, "unix:") ? socket : absl::StrCat("unix:", socket);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

ScheduleClient::ScheduleClient(const std::string& socket)
    : socket_(socket), stub_(control::Schedules::NewStub(make_channel(socket))) {}

absl::Status ScheduleClient::explain(const grpc::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE ||
      status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return absl::UnavailableError(
        absl::StrCat("no answer from tictacd at ", socket_, "; start it, or name its socket with --socket"));
  }
  return from_grpc(status);
}

absl::StatusOr<control::PushReply> ScheduleClient::push(const control::PushRequest& request, Duration limit) {
  if (!google::protobuf::internal::IsStructurallyValidUTF8(request.job().data(),
                                                           static_cast<int>(request.job().size())))
    return absl::InvalidArgumentError("a job's name must be UTF-8");
  grpc::ClientContext context;
  context.set_deadline(deadline(limit));
  control::PushReply reply;
  const absl::Status done = explain(stub_->Push(&context, request, &reply));
  if (!done.ok()) return done;
  return reply;
}

absl::StatusOr<control::StatusReply> ScheduleClient::status(const std::string& job, Duration limit) {
  grpc::ClientContext context;
  context.set_deadline(deadline(limit));
  control::StatusRequest request;
  request.set_job(job);
  control::StatusReply reply;
  const absl::Status done = explain(stub_->Status(&context, request, &reply));
  if (!done.ok()) return done;
  return reply;
}

absl::StatusOr<control::StatusReply> ScheduleClient::wait_for_answers(const std::string& job,
                                                                      uint64_t version, Duration limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (true) {
    const auto left = std::chrono::duration_cast<Duration>(end - std::chrono::steady_clock::now());
    auto reply = status(job, std::max(left, Duration(100ms)));
    if (!reply.ok() || all_answered(*reply, version) || left <= Duration(0)) return reply;
    std::this_thread::sleep_for(kPollEvery);
  }
}

}  // namespace tictac
