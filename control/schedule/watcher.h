#pragma once

#include <grpcpp/grpcpp.h>

#include <map>
#include <mutex>
#include <string>

#include "control/schedule/registry.h"

namespace tictac {

class Watcher;

// What a watcher tells the server. Called from gRPC's threads, never with the watcher's lock held.
class WatchHub {
 public:
  virtual ~WatchHub() = default;
  // The proxy said hello: from now on it gets every schedule, beginning with all newest ones.
  virtual absl::Status on_hello(Watcher& watcher, const control::WatchRequest::Hello& hello) = 0;
  virtual void on_answer(const std::string& proxy, const control::WatchRequest::Answer& answer) = 0;
  virtual void on_gone(Watcher& watcher) = 0;
};

// One proxy's Watch stream. Of each job it holds at most one schedule that waits to be written, so a slow
// proxy costs no more than the newest versions. Deletes itself when gRPC is done with it.
class Watcher final : public grpc::ServerBidiReactor<control::WatchRequest, control::Schedule> {
 public:
  explicit Watcher(WatchHub& hub) : hub_(hub) {
    StartSendInitialMetadata();  // the proxy learns that it is connected though there may be no schedule yet
    StartRead(&request_);
  }

  // Any thread, while the hub still knows the watcher.
  void send(SchedulePtr schedule);
  const std::string& proxy() const { return proxy_; }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override { finish(grpc::Status::CANCELLED); }
  void OnDone() override;

 private:
  absl::Status on_request();
  void write_next();  // with the lock held
  void finish(const grpc::Status& status);

  WatchHub& hub_;
  control::WatchRequest request_;
  std::string proxy_;  // empty until hello; then constant
  std::mutex mutex_;
  std::map<std::string, SchedulePtr> pending_;  // by job
  SchedulePtr writing_;
  bool finished_ = false;
};

}  // namespace tictac
