#include "control/schedule/watcher.h"

#include "control/schedule/grpc_status.h"

namespace tictac {

void Watcher::send(SchedulePtr schedule) {
  const std::lock_guard lock(mutex_);
  const std::string job = schedule->job();
  pending_[job] = std::move(schedule);
  write_next();
}

void Watcher::write_next() {
  if (writing_ || finished_ || pending_.empty()) return;
  writing_ = std::move(pending_.begin()->second);
  pending_.erase(pending_.begin());
  StartWrite(writing_.get());
}

void Watcher::OnWriteDone(bool ok) {
  if (!ok) return finish(grpc::Status::CANCELLED);
  const std::lock_guard lock(mutex_);
  writing_.reset();
  write_next();
}

void Watcher::OnReadDone(bool ok) {
  if (!ok) return finish(grpc::Status::OK);
  const absl::Status taken = on_request();
  if (!taken.ok()) return finish(to_grpc(taken));
  StartRead(&request_);
}

absl::Status Watcher::on_request() {
  switch (request_.kind_case()) {
    case control::WatchRequest::kHello: {
      if (!proxy_.empty()) return absl::FailedPreconditionError("a second hello");
      const std::string name = request_.hello().proxy();
      const absl::Status known = hub_.on_hello(*this, request_.hello());
      if (known.ok()) proxy_ = name;
      return known;
    }
    case control::WatchRequest::kAnswer:
      if (proxy_.empty()) return absl::FailedPreconditionError("hello comes first");
      hub_.on_answer(proxy_, request_.answer());
      return absl::OkStatus();
    case control::WatchRequest::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("an empty request");
}

void Watcher::finish(const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  finished_ = true;
  Finish(status);
}

void Watcher::OnDone() {
  hub_.on_gone(*this);
  delete this;
}

}  // namespace tictac
