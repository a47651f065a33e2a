#include "control/replay/worker.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "control/order/permutation.h"
#include "control/replay/application.h"
#include "control/replay/content.h"
#include "control/replay/executor.h"
#include "dataplane/base/error_place.h"

namespace tictac::replay {
namespace {

constexpr Duration kLongestWait = 10ms;
constexpr size_t kVerifyPiece = 256 * 1024;  // between looks at the events

class Worker {
 public:
  explicit Worker(const Plan& plan) : plan_(plan), executor_(plan.graph, plan.time_scale) {}

  absl::Status handle(const Command& command, Reply* reply, std::vector<Completion>* completions) {
    absl::Status status = absl::InternalError("no command for a worker");
    switch (command.kind) {
      case CommandKind::kConnect:
        status = connect(reply);
        break;
      case CommandKind::kPrepare:
        status = prepare(command);
        break;
      case CommandKind::kRun:
        status = run(command, reply);
        *completions = completions_;
        break;
      case CommandKind::kCollect:
        break;
    }
    return status.ok() ? status : at_place("worker", status);
  }

 private:
  absl::Status connect(Reply* reply) {
    auto clients = connect_all({.socket = plan_.worker_socket,
                                .application = "replay-worker",
                                .peer = plan_.ps_name,
                                .incoming = parameters_of(plan_.graph),
                                .outgoing = gradients_of(plan_.graph)},
                               plan_.jobs, &reply->counters);
    if (!clients.ok()) return clients.status();
    clients_ = *std::move(clients);
    return absl::OkStatus();
  }

  absl::Status prepare(const Command& command) {
    active_ = &clients_[command.job];
    step_ = command.step;
    for (Tensor& tensor : active_->outgoing)
      fill(content_seed(tensor.wire_name, step_), tensor.buffer.data(), tensor.size);
    sends_.assign(active_->outgoing.size(), Send{});
    sends_left_ = active_->outgoing.size();
    completions_.clear();
    unverified_.clear();
    return absl::OkStatus();
  }

  absl::Status run(const Command& command, Reply* reply) {
    const std::vector<uint32_t> order = shuffled(active_->incoming.size(), command.seed);
    const Time start = monotonic_now();
    executor_.start(start);
    for (const uint32_t recv : order) {
      Tensor& tensor = active_->incoming[recv];
      if (active_->client.fetch(tensor.name, active_->peer, tensor.buffer.span(), recv) != TICTAC_OK) {
        return client_error("asking for a parameter");
      }
    }
    while (!executor_.finished() || !unverified_.empty() || sends_left_ > 0) {
      const absl::Status turned = turn(reply);
      if (!turned.ok()) return turned;
      if (monotonic_now() - start > kStepLimit) return absl::DeadlineExceededError("the step does not end");
    }
    reply->start_ns = start.time_since_epoch().count();
    reply->end_ns = executor_.end().time_since_epoch().count();
    reply->order_hash = hash_of_order();
    return read_counters(active_->client, &reply->counters);
  }

  // Events, then operations, then a piece of verifying or a sleep until something is due.
  absl::Status turn(Reply* reply) {
    const Time now = monotonic_now();
    Duration wait = executor_.next_deadline() == kNever ? kLongestWait : executor_.next_deadline() - now;
    wait = std::clamp(wait, Duration(0), kLongestWait);
    if (!unverified_.empty()) wait = Duration(0);
    std::array<tictac_event, 128> events{};
    const int n = active_->client.wait(events, wait.count());
    if (n < 0) return client_error("the sidecar");
    for (int i = 0; i < n; ++i) {
      const absl::Status taken = on_event(events[static_cast<size_t>(i)]);
      if (!taken.ok()) return taken;
    }
    absl::Status sent;
    executor_.advance(monotonic_now(), [&](uint32_t op, Time) { on_op_end(op, &sent); });
    if (n == 0) verify_piece(reply);
    return sent;
  }

  absl::Status on_event(const tictac_event& event) {
    switch (event.kind) {
      case TICTAC_EVENT_COMPLETE: {
        if (event.status != TICTAC_OK) {
          return absl::UnavailableError(
              absl::StrCat("a parameter ended: ", tictac_status_text(event.status)));
        }
        const auto recv = static_cast<uint32_t>(event.tag);
        executor_.on_arrival(recv, Time(Duration(static_cast<int64_t>(event.time_ns))));
        completions_.push_back({.recv = recv,
                                .rank = event.rank,
                                .time_ns = static_cast<int64_t>(event.time_ns),
                                .schedule_version = event.schedule_version});
        unverified_.push_back({.recv = recv, .size = event.size, .checked = 0});
        return absl::OkStatus();
      }
      case TICTAC_EVENT_REQUEST: {
        const uint32_t send = active_->outgoing_of_name[event.name];
        sends_[send].request = event.request;
        return answer_if_ready(send);
      }
      case TICTAC_EVENT_ANSWER_DONE:
        if (event.status != TICTAC_OK)
          return absl::UnavailableError(absl::StrCat("a gradient ended: ", tictac_status_text(event.status)));
        --sends_left_;
        return absl::OkStatus();
      case TICTAC_EVENT_PEER_DOWN:
        return absl::UnavailableError("the PS's sidecar has gone");
      default:
        return absl::OkStatus();
    }
  }

  void on_op_end(uint32_t op, absl::Status* status) {
    for (uint32_t send = 0; send < plan_.graph.sends.size(); ++send) {
      if (plan_.graph.sends[send].op != op) continue;
      sends_[send].op_ended = true;
      const absl::Status answered = answer_if_ready(send);
      if (!answered.ok()) *status = answered;
    }
  }

  absl::Status answer_if_ready(uint32_t send) {
    if (!sends_[send].op_ended || !sends_[send].request) return absl::OkStatus();
    Tensor& tensor = active_->outgoing[send];
    const int answered = active_->client.answer(*sends_[send].request, {tensor.buffer.data(), tensor.size});
    return answered == TICTAC_OK ? absl::OkStatus() : client_error("sending a gradient");
  }

  // Checks a piece of the oldest tensor that was not checked whole.
  void verify_piece(Reply* reply) {
    if (unverified_.empty()) return;
    Unverified& next = unverified_.front();
    Tensor& tensor = active_->incoming[next.recv];
    const size_t piece = std::min<size_t>(tensor.size - next.checked, kVerifyPiece);
    const uint64_t seed = content_seed_at(content_seed(tensor.wire_name, step_), next.checked);
    const bool right =
        next.size == tensor.size && first_wrong(seed, tensor.buffer.data() + next.checked, piece) == piece;
    reply->bytes_verified += piece;
    next.checked += piece;
    if (!right) ++reply->mismatches;
    if (!right || next.checked == tensor.size) unverified_.pop_front();
  }

  uint64_t hash_of_order() const {
    uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const Completion& completion : completions_) hash = (hash ^ completion.recv) * 0x100000001b3;
    return hash;
  }

  struct Send {
    std::optional<uint64_t> request;
    bool op_ended = false;
  };
  struct Unverified {
    uint32_t recv = 0;
    uint64_t size = 0;
    uint64_t checked = 0;
  };

  const Plan& plan_;
  std::vector<JobClient> clients_;
  JobClient* active_ = nullptr;
  Executor executor_;
  uint64_t step_ = 0;
  std::vector<Send> sends_;
  size_t sends_left_ = 0;
  std::vector<Completion> completions_;
  std::deque<Unverified> unverified_;
};

}  // namespace

void run_worker(const Plan& plan, Channel channel) {
  Worker worker(plan);
  serve_commands(channel, [&](const Command& command, Reply* reply, std::vector<Completion>* completions) {
    return worker.handle(command, reply, completions);
  });
}

}  // namespace tictac::replay
