#include "control/schedule/server.h"

#include <grpcpp/grpcpp.h>
#include <sys/stat.h>

#include <chrono>
#include <mutex>
#include <set>

#include "absl/strings/str_cat.h"
#include "control/schedule/grpc_status.h"
#include "control/schedule/registry.h"
#include "control/schedule/schedule.grpc.pb.h"
#include "control/schedule/schedule_limits.h"
#include "control/schedule/socket_owner.h"
#include "control/schedule/store.h"
#include "control/schedule/watcher.h"
#include "spdlog/spdlog.h"

namespace tictac {
namespace {

constexpr auto kShutdownLimit = std::chrono::seconds(1);

int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// The RPCs. Lock order: the service's, then a watcher's.
class Service final : public control::Schedules::CallbackService, public WatchHub {
 public:
  explicit Service(Store store) : store_(std::move(store)) {}

  absl::Status load() {
    auto saved = store_.load_newest();
    if (!saved.ok()) return saved.status();
    for (Store::Saved& one : *saved) registry_.restore(std::move(one.schedule), one.pushed_ms);
    return absl::OkStatus();
  }

  grpc::ServerUnaryReactor* Push(grpc::CallbackServerContext* context, const control::PushRequest* request,
                                 control::PushReply* reply) override {
    const auto version = push(*request);
    if (version.ok()) reply->set_version(*version);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(to_grpc(version.status()));
    return reactor;
  }

  grpc::ServerUnaryReactor* Status(grpc::CallbackServerContext* context,
                                   const control::StatusRequest* request,
                                   control::StatusReply* reply) override {
    {
      const std::lock_guard lock(mutex_);
      *reply = registry_.status(request->job());
    }
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerBidiReactor<control::WatchRequest, control::Schedule>* Watch(
      grpc::CallbackServerContext*) override {
    return new Watcher(*this);
  }

  absl::Status on_hello(Watcher& watcher, const control::WatchRequest::Hello& hello) override {
    const std::lock_guard lock(mutex_);
    const absl::Status connected = registry_.connect(hello, unix_ms());
    if (!connected.ok()) return connected;
    watchers_.insert(&watcher);
    for (SchedulePtr& schedule : registry_.all_newest()) watcher.send(std::move(schedule));
    spdlog::info("proxy {} connected", hello.proxy());
    return absl::OkStatus();
  }

  void on_answer(const std::string& proxy, const control::WatchRequest::Answer& answer) override {
    const std::lock_guard lock(mutex_);
    registry_.answer(proxy, answer);
    if (!answer.accepted())
      spdlog::warn("proxy {} refuses {} version {}: {}", proxy, answer.job(), answer.version(),
                   answer.reason());
  }

  void on_gone(Watcher& watcher) override {
    const std::lock_guard lock(mutex_);
    if (watchers_.erase(&watcher) == 0) return;
    registry_.disconnect(watcher.proxy(), unix_ms());
    spdlog::info("proxy {} disconnected", watcher.proxy());
  }

 private:
  absl::StatusOr<uint64_t> push(const control::PushRequest& request) {
    const std::lock_guard lock(mutex_);
    const auto schedule = registry_.prepare(request);
    if (!schedule.ok()) return schedule.status();
    const int64_t now = unix_ms();
    const absl::Status saved = store_.save(**schedule, now);
    if (!saved.ok()) return saved;
    registry_.commit(*schedule, now);
    for (Watcher* watcher : watchers_) watcher->send(*schedule);
    spdlog::info("job {} has version {}, {} entries", request.job(), (*schedule)->version(),
                 request.entries_size());
    return (*schedule)->version();
  }

  std::mutex mutex_;
  Registry registry_;
  Store store_;
  std::set<Watcher*> watchers_;
};

class Server final : public ScheduleServer {
 public:
  Server(SocketOwner owner, Store store) : owner_(std::move(owner)), service_(std::move(store)) {}
  ~Server() override {
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + kShutdownLimit);
  }

  absl::Status listen(uint32_t mode) {
    const absl::Status loaded = service_.load();
    if (!loaded.ok()) return loaded;
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(absl::StrCat("unix:", owner_.path()), grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(kMostMessageBytes);
    builder.RegisterService(&service_);
    // The socket must never be open to more than `mode`, not even between bind and chmod.
    const mode_t before = umask(0777 & ~mode);
    server_ = builder.BuildAndStart();
    umask(before);
    if (!server_ || port == 0) {
      return absl::UnavailableError(
          absl::StrCat(owner_.path(), ": cannot listen there; is its folder writable?"));
    }
    owner_.note_bound();
    return absl::OkStatus();
  }

 private:
  SocketOwner owner_;  // outlives the server
  Service service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ScheduleServer>> ScheduleServer::start(const Config& config) {
  auto owner = SocketOwner::claim(config.socket);
  if (!owner.ok()) return owner.status();
  std::string set_aside;
  auto store = Store::open(config.state, &set_aside);
  if (!store.ok()) return store.status();
  if (!set_aside.empty()) {
    spdlog::warn("{} was broken and is set aside as {}; push the schedules again", config.state, set_aside);
  }
  auto server = std::make_unique<Server>(*std::move(owner), *std::move(store));
  const absl::Status listening = server->listen(config.mode);
  if (!listening.ok()) return listening;
  return server;
}

}  // namespace tictac
