#include "control/schedule/watch_client.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "control/schedule/client.h"
#include "control/schedule/schedule.grpc.pb.h"
#include "spdlog/spdlog.h"

namespace tictac {
namespace {

constexpr auto kRetryEvery = std::chrono::milliseconds(250);

}  // namespace

class WatchClient::Impl {
 public:
  Impl(std::string socket, std::string proxy, OnSchedule on_schedule)
      : socket_(std::move(socket)),
        proxy_(std::move(proxy)),
        on_schedule_(std::move(on_schedule)),
        thread_([this] { run(); }) {}

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      if (context_) context_->TryCancel();
    }
    wake_.notify_all();
    thread_.join();
  }

  bool connected() const { return connected_.load(std::memory_order_relaxed); }

 private:
  struct InForce {
    uint64_t version = 0;
    size_t content = 0;  // hash
    bool operator==(const InForce&) const = default;
  };

  void run() {
    bool told = false;
    while (true) {
      const bool had_stream = watch();
      std::unique_lock lock(mutex_);
      if (stopping_) return;
      if (had_stream || !told) spdlog::warn("no daemon at {}; going on with the schedules in force", socket_);
      told = true;
      wake_.wait_for(lock, kRetryEvery, [this] { return stopping_; });
      if (stopping_) return;
    }
  }

  // One stream from hello to its end; whether it ever stood.
  bool watch() {
    grpc::ClientContext context;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return false;
      context_ = &context;
    }
    const auto stub = control::Schedules::NewStub(make_channel(socket_));
    const auto stream = stub->Watch(&context);
    const bool stood = stream->Write(hello());
    if (stood) {
      // The first bytes from the daemon prove the stream; a Write may succeed into a dead one.
      stream->WaitForInitialMetadata();
      connected_ = true;
      control::Schedule schedule;
      while (stream->Read(&schedule) && stream->Write(answer(schedule))) {
      }
      connected_ = false;
    }
    {
      const std::lock_guard lock(mutex_);
      context_ = nullptr;
    }
    context.TryCancel();
    stream->Finish();
    return stood;
  }

  control::WatchRequest hello() const {
    control::WatchRequest request;
    request.mutable_hello()->set_proxy(proxy_);
    for (const auto& [job, taken] : in_force_) {
      auto& one = *request.mutable_hello()->add_in_force();
      one.set_job(job);
      one.set_version(taken.version);
    }
    return request;
  }

  control::WatchRequest answer(const control::Schedule& schedule) {
    absl::Status taken;
    // The newest comes again after a reconnect; what is in force need not be put in force again. The version
    // alone does not tell: a daemon that lost its state counts from one again.
    const InForce offered{schedule.version(), std::hash<std::string>{}(schedule.SerializeAsString())};
    const auto known = in_force_.find(schedule.job());
    if (known == in_force_.end() || known->second != offered) taken = on_schedule_(schedule);
    control::WatchRequest request;
    auto& reply = *request.mutable_answer();
    reply.set_job(schedule.job());
    reply.set_version(schedule.version());
    reply.set_accepted(taken.ok());
    if (taken.ok()) {
      in_force_[schedule.job()] = offered;
    } else {
      reply.set_reason(std::string(taken.message()));
    }
    return request;
  }

  const std::string socket_;
  const std::string proxy_;
  const OnSchedule on_schedule_;
  std::map<std::string, InForce> in_force_;  // by job; the thread's
  std::atomic<bool> connected_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  grpc::ClientContext* context_ = nullptr;
  std::thread thread_;  // last: it uses all of the above
};

WatchClient::WatchClient(std::string socket, std::string proxy, OnSchedule on_schedule)
    : impl_(std::make_unique<Impl>(std::move(socket), std::move(proxy), std::move(on_schedule))) {}
WatchClient::~WatchClient() = default;

bool WatchClient::connected() const { return impl_->connected(); }

}  // namespace tictac
