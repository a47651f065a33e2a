#include "control/replay/parameter_server.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "control/replay/application.h"
#include "control/replay/content.h"

namespace tictac::replay {
namespace {

constexpr Duration kPoll = 10ms;  // between looks at the channel

class ParameterServer {
 public:
  ParameterServer(const Plan& plan, Channel& channel) : plan_(plan), channel_(channel) {}

  absl::Status handle(const Command& command, Reply* reply) {
    switch (command.kind) {
      case CommandKind::kConnect:
        return connect(reply);
      case CommandKind::kPrepare:
        return prepare(command);
      case CommandKind::kCollect:
        return collect(reply);
      case CommandKind::kRun:
        break;
    }
    return absl::InternalError("no command for a PS");
  }

  // While no command is there, the step's requests are served.
  void run() {
    while (true) {
      const auto command = channel_.receive_command(active_ ? Duration(0) : Duration(3600s));
      if (absl::IsNotFound(command.status()) && active_) {
        const absl::Status served = serve(kPoll);
        if (!served.ok()) fault_ = served;
        if (!served.ok()) active_ = nullptr;
        continue;
      }
      if (!command.ok()) return;
      Reply reply;
      const absl::Status status = fault_.ok() ? handle(*command, &reply) : fault_;
      if (!status.ok()) reply.fail(absl::StrCat("PS: ", status.message()));
      if (!channel_.send(reply, {}).ok()) return;
    }
  }

 private:
  absl::Status connect(Reply* reply) {
    auto clients = connect_all({.socket = plan_.ps_socket,
                                .application = "replay-ps",
                                .peer = plan_.worker_name,
                                .incoming = gradients_of(plan_.graph),
                                .outgoing = parameters_of(plan_.graph)},
                               plan_.jobs, &reply->counters);
    if (!clients.ok()) return clients.status();
    clients_ = *std::move(clients);
    return absl::OkStatus();
  }

  absl::Status prepare(const Command& command) {
    active_ = &clients_[command.job];
    step_ = command.step;
    answers_left_ = active_->outgoing.size();
    gradients_left_ = active_->incoming.size();
    result_ = Reply{};
    for (Tensor& tensor : active_->outgoing)
      fill(content_seed(tensor.wire_name, step_), tensor.buffer.data(), tensor.size);
    for (uint32_t i = 0; i < active_->incoming.size(); ++i) {
      Tensor& tensor = active_->incoming[i];
      if (active_->client.fetch(tensor.name, active_->peer, tensor.buffer.span(), i) != TICTAC_OK) {
        return client_error("asking for a gradient");
      }
    }
    return absl::OkStatus();
  }

  absl::Status collect(Reply* reply) {
    const Time limit = monotonic_now() + kStepLimit;
    while (answers_left_ > 0 || gradients_left_ > 0) {
      const absl::Status served = serve(kPoll);
      if (!served.ok()) return served;
      if (monotonic_now() > limit)
        return absl::DeadlineExceededError(
            absl::StrCat(answers_left_, " answers and ", gradients_left_, " gradients are missing"));
    }
    *reply = result_;
    JobClient& client = *active_;
    active_ = nullptr;
    return read_counters(client.client, &reply->counters);
  }

  absl::Status serve(Duration wait) {
    std::array<tictac_event, 128> events{};
    const int n = active_->client.wait(events, wait.count());
    if (n < 0) return client_error("the sidecar");
    for (int i = 0; i < n; ++i) {
      const absl::Status done = on_event(events[static_cast<size_t>(i)]);
      if (!done.ok()) return done;
    }
    return absl::OkStatus();
  }

  absl::Status on_event(const tictac_event& event) {
    switch (event.kind) {
      case TICTAC_EVENT_REQUEST: {
        Tensor& tensor = active_->outgoing[active_->outgoing_of_name[event.name]];
        const int answered = active_->client.answer(event.request, {tensor.buffer.data(), tensor.size});
        return answered == TICTAC_OK ? absl::OkStatus() : client_error("answering");
      }
      case TICTAC_EVENT_ANSWER_DONE:
        if (event.status != TICTAC_OK)
          return absl::UnavailableError(absl::StrCat("an answer ended: ", tictac_status_text(event.status)));
        --answers_left_;
        return absl::OkStatus();
      case TICTAC_EVENT_COMPLETE:
        return on_gradient(event);
      case TICTAC_EVENT_PEER_DOWN:
        return absl::UnavailableError("the worker's sidecar has gone");
      default:
        return absl::OkStatus();
    }
  }

  absl::Status on_gradient(const tictac_event& event) {
    if (event.status != TICTAC_OK)
      return absl::UnavailableError(absl::StrCat("a gradient ended: ", tictac_status_text(event.status)));
    Tensor& tensor = active_->incoming[event.tag];
    result_.end_ns = std::max(result_.end_ns, static_cast<int64_t>(event.time_ns));
    const bool right =
        event.size == tensor.size &&
        first_wrong(content_seed(tensor.wire_name, step_), tensor.buffer.data(), tensor.size) == tensor.size;
    result_.mismatches += !right;
    result_.bytes_verified += event.size;
    --gradients_left_;
    return absl::OkStatus();
  }

  const Plan& plan_;
  Channel& channel_;
  std::vector<JobClient> clients_;
  JobClient* active_ = nullptr;
  absl::Status fault_;
  uint64_t step_ = 0;
  size_t answers_left_ = 0;
  size_t gradients_left_ = 0;
  Reply result_;
};

}  // namespace

void run_parameter_server(const Plan& plan, Channel channel) { ParameterServer(plan, channel).run(); }

}  // namespace tictac::replay
