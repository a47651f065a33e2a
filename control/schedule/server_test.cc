// The daemon's server and clients over a real socket, in one process.
#include "control/schedule/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "control/schedule/client.h"
#include "control/schedule/socket_owner.h"
#include "control/schedule/watch_client.h"

namespace tictac {
namespace {

namespace fs = std::filesystem;

// A proxy that takes schedules, or refuses them.
class FakeProxy {
 public:
  FakeProxy(const std::string& socket, const std::string& name)
      : client_(socket, name, [this](const control::Schedule& schedule) {
          const std::lock_guard lock(mutex_);
          if (refuse_) return absl::ResourceExhaustedError("no room");
          versions_[schedule.job()] = schedule.version();
          ranks_[schedule.job()] = schedule.entries_size() > 0 ? schedule.entries(0).rank() : 0;
          changed_.notify_all();
          return absl::OkStatus();
        }) {}
  bool wait_for(const std::string& job, uint64_t version) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(5), [&] { return versions_[job] == version; });
  }
  bool wait_for_rank(const std::string& job, uint32_t rank) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(5), [&] { return ranks_[job] == rank; });
  }
  void refuse() {
    const std::lock_guard lock(mutex_);
    refuse_ = true;
  }
  bool connected() const { return client_.connected(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, uint64_t> versions_;
  std::map<std::string, uint32_t> ranks_;  // of the first entry
  bool refuse_ = false;
  WatchClient client_;
};

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() : folder_(fs::temp_directory_path() / ("tictac-server-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    config_ = {.socket = folder_ / "d.sock", .state = folder_ / "d.db"};
  }
  ~ServerTest() override {
    server_.reset();
    fs::remove_all(folder_);
  }
  void start() {
    auto server = ScheduleServer::start(config_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  uint64_t push(const std::string& job, uint32_t rank) {
    control::PushRequest request;
    request.set_job(job);
    auto& entry = *request.add_entries();
    entry.set_name("w\xff");  // not UTF-8
    entry.set_rank(rank);
    const auto reply = client().push(request, 5s);
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? reply->version() : 0;
  }
  ScheduleClient client() { return ScheduleClient(config_.socket); }
  // The standing of the only proxy to the only job, once all have answered.
  control::JobStatus::InProxy standing(uint64_t version) {
    const auto status = client().wait_for_answers("job", version, 5s);
    EXPECT_TRUE(status.ok()) << status.status();
    return status->jobs(0).proxies(0);
  }

  fs::path folder_;
  ScheduleServer::Config config_;
  std::unique_ptr<ScheduleServer> server_;
};

TEST_F(ServerTest, APushReachesTheProxyAndIsAcknowledged) {
  start();
  FakeProxy proxy(config_.socket, "p");
  EXPECT_EQ(push("job", 1), 1U);
  EXPECT_TRUE(proxy.wait_for("job", 1));
  EXPECT_EQ(standing(1).newest(), control::ACKED);
  EXPECT_EQ(push("job", 2), 2U);
  EXPECT_TRUE(proxy.wait_for("job", 2));
}

TEST_F(ServerTest, AProxyThatComesLaterGetsTheNewest) {
  start();
  for (uint32_t i = 0; i < 5; ++i) push("job", i);
  FakeProxy proxy(config_.socket, "p");
  EXPECT_TRUE(proxy.wait_for("job", 5));
}

TEST_F(ServerTest, ANackIsTold) {
  start();
  FakeProxy proxy(config_.socket, "p");
  push("job", 1);
  ASSERT_TRUE(proxy.wait_for("job", 1));
  proxy.refuse();
  push("job", 2);
  const auto in_proxy = standing(2);
  EXPECT_EQ(in_proxy.newest(), control::NACKED);
  EXPECT_EQ(in_proxy.in_force(), 1U);
  EXPECT_EQ(in_proxy.reason(), "no room");
}

TEST_F(ServerTest, ProxiesOutliveTheDaemonAndStatusIsRightWithinTwoSeconds) {
  start();
  FakeProxy proxy(config_.socket, "p");
  push("job", 1);
  ASSERT_TRUE(proxy.wait_for("job", 1));
  server_.reset();
  EXPECT_FALSE(client().status("", 300ms).ok());
  start();
  const auto begin = std::chrono::steady_clock::now();
  bool right = false;
  while (!right && std::chrono::steady_clock::now() - begin < std::chrono::seconds(2)) {
    const auto status = client().status("job", 1s);
    right = status.ok() && status->jobs_size() == 1 && status->jobs(0).proxies_size() == 1 &&
            status->jobs(0).proxies(0).connected() && status->jobs(0).proxies(0).newest() == control::ACKED;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(right);
  EXPECT_EQ(push("job", 2), 2U) << "versions go on after a restart";
  EXPECT_TRUE(proxy.wait_for("job", 2));
}

// The daemon's versions begin anew; what is pushed must be put in force all the same.
TEST_F(ServerTest, APushAfterLostStateIsPutInForce) {
  start();
  FakeProxy proxy(config_.socket, "p");
  push("job", 3);
  ASSERT_TRUE(proxy.wait_for_rank("job", 3));
  server_.reset();
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(config_.state + suffix);
  start();
  push("job", 9);
  EXPECT_TRUE(proxy.wait_for_rank("job", 9));
}

TEST_F(ServerTest, AProxyIsConnectedThoughThereIsNoSchedule) {
  start();
  FakeProxy proxy(config_.socket, "p");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!proxy.connected() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(proxy.connected());
}

TEST_F(ServerTest, AJobThatIsNoTextIsRefusedByName) {
  start();
  control::PushRequest request;
  request.set_job("\xff");
  const auto reply = client().push(request, 5s);
  EXPECT_EQ(reply.status().message(), "a job's name must be UTF-8");
}

TEST_F(ServerTest, ManyPushesEndWithTheNewest) {
  start();
  FakeProxy a(config_.socket, "a");
  FakeProxy b(config_.socket, "b");
  uint64_t last = 0;
  for (uint32_t i = 0; i < 200; ++i) last = push("job", i);
  EXPECT_EQ(last, 200U);
  EXPECT_TRUE(a.wait_for("job", last));
  EXPECT_TRUE(b.wait_for("job", last));
}

TEST_F(ServerTest, TheSocketIsAsOpenAsAsked) {
  umask(0);
  start();
  struct stat info {};
  ASSERT_EQ(stat(config_.socket.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  umask(022);
}

TEST_F(ServerTest, ASecondDaemonIsRefusedAndTheFirstKeepsItsSocket) {
  start();
  const auto second = ScheduleServer::start({.socket = config_.socket, .state = folder_ / "other.db"});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("another process serves there"), absl::string_view::npos);
  EXPECT_EQ(push("job", 1), 1U);
}

TEST_F(ServerTest, AStaleSocketIsReplacedAndAFileIsNot) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", config_.socket.c_str());
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(fd);
  start();
  server_.reset();
  EXPECT_FALSE(fs::exists(config_.socket)) << "a daemon removes its socket";
  std::ofstream(config_.socket) << "precious";
  EXPECT_FALSE(ScheduleServer::start(config_).ok());
  EXPECT_EQ(fs::file_size(config_.socket), 8U);
}

TEST_F(ServerTest, ALongPathAndAMissingFolderAreRefusedByName) {
  const auto too_long =
      ScheduleServer::start({.socket = "/tmp/" + std::string(120, 'x'), .state = config_.state});
  ASSERT_FALSE(too_long.ok());
  EXPECT_NE(too_long.status().message().find("107"), absl::string_view::npos);
  EXPECT_FALSE(ScheduleServer::start({.socket = folder_ / "no" / "d.sock", .state = config_.state}).ok());
}

TEST_F(ServerTest, ABrokenStateFileIsSetAside) {
  std::ofstream(config_.state) << std::string(8192, 'x');
  start();
  EXPECT_EQ(push("job", 1), 1U);
  EXPECT_TRUE(fs::exists(config_.state + ".broken-1"));
}

}  // namespace
}  // namespace tictac
