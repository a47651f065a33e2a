// Real sockets and real clients; the gateways run on a thread with the real clock, two endpoints joined in
// memory.
#include "ps_proxy/native/native_listener.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "dataplane/runtime/steady_clock.h"
#include "ps_proxy/client/stats.h"
#include "ps_proxy/client/tictac.hpp"
#include "ps_proxy/native/test_host.h"

namespace tictac::native {
namespace {

class Listener : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("tictac_listener_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    path = folder / "native.sock";
  }
  void TearDown() override {
    stop = true;
    if (lcore.joinable()) lcore.join();
    if (control.joinable()) control.join();
    std::filesystem::remove_all(folder);
  }
  NativeListener::Config config() {
    return {.path = path,
            .max_clients = 3,
            .max_arena = 1 << 20,
            .max_total_arena = 2 << 20,
            .peers = {"ps"},
            .stats = [] { return std::string(100'000, 's'); }};
  }
  void start() { start(config()); }
  void start(NativeListener::Config c) {
    auto opened = NativeListener::open(std::move(c), pair.worker->gateway, mailbox);
    ASSERT_TRUE(opened.ok()) << opened.status();
    listener = *std::move(opened);
    // The lcore sleeps as LcoreLoop does, so that doorbells matter.
    lcore = std::thread([this] {
      while (!stop) {
        const Time now = steady_now();
        size_t work = mailbox.poll(now) + pair.worker->gateway.poll(now) + pair.ps->gateway.poll(now);
        pair.now = now;
        pair.carry();
        if (work > 0 || !mailbox.prepare_to_sleep()) continue;
        if (pair.worker->gateway.prepare_to_sleep()) {
          pollfd fds[] = {{mailbox.wake_fd(), POLLIN, 0}, {pair.worker->gateway.wake_fd(), POLLIN, 0}};
          poll(fds, 2, 5);
          pair.worker->gateway.resume();
        }
        mailbox.resume();
      }
    });
    control = std::thread([this] {
      while (!stop) {
        pollfd fd{listener->fd(), POLLIN, 0};
        poll(&fd, 1, 5);
        listener->handle_ready();
        clients = listener->client_count();
      }
    });
  }
  tictac_options options(uint64_t arena = 1 << 16) {
    tictac_options o{};
    o.socket = path_text.c_str();
    o.application = "app";
    o.job = "job";
    o.arena_bytes = arena;
    o.max_operations = 16;
    return o;
  }
  bool eventually(const std::function<bool()>& done) {
    for (int i = 0; i < 400 && !done(); ++i) std::this_thread::sleep_for(5ms);
    return done();
  }

  std::filesystem::path folder;
  std::filesystem::path path;
  std::string path_text = std::filesystem::temp_directory_path() /
                          ("tictac_listener_test_" + std::to_string(getpid())) / "native.sock";
  TestPair pair;
  Mailbox mailbox;
  std::unique_ptr<NativeListener> listener;
  std::atomic<bool> stop{false};
  std::atomic<size_t> clients{0};
  std::thread lcore;
  std::thread control;
};

TEST_F(Listener, ConnectsCarriesAndWakesSleepers) {
  TestClient server = pair.ps->connect("job", pair.now, 16, 1 << 16);
  start();
  Client client(options());
  ASSERT_TRUE(client) << tictac_error();
  tictac_peer_id peer = 9;
  ASSERT_EQ(client.peer("ps", &peer), TICTAC_OK);
  EXPECT_EQ(client.peer("nobody", &peer), TICTAC_NO_SUCH_PEER);
  EXPECT_EQ(client.wait_peer(0, 2'000'000'000), TICTAC_OK);
  tictac_name_id name = 0;
  ASSERT_EQ(client.name("w", &name), TICTAC_OK);
  tictac_name_id served = 0;
  ASSERT_EQ(tictac_name(server.get(), "w", &served), TICTAC_OK);
  ASSERT_EQ(tictac_serve(server.get(), served), TICTAC_OK);
  Buffer buffer(client, 1000);
  std::vector<tictac_event> events(8);
  for (uint64_t round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(2ms);  // everybody sleeps
    ASSERT_EQ(client.fetch(name, 0, buffer.span(), round), TICTAC_OK);
    tictac_event event;
    do {
      ASSERT_EQ(tictac_wait(server.get(), &event, 1, 2'000'000'000), 1);
    } while (event.kind != TICTAC_EVENT_REQUEST);
    ASSERT_EQ(tictac_answer(server.get(), event.request, server->memory.data(), 1000), TICTAC_OK);
    int count = 0;
    do {
      count = client.wait(events, 2'000'000'000);
      ASSERT_GT(count, 0);
    } while (events[0].kind != TICTAC_EVENT_COMPLETE);
    EXPECT_EQ(events[0].status, TICTAC_OK);
  }
  EXPECT_GT(client.counters().doorbells, 5U);
  EXPECT_GT(client.counters().sleeps, 5U);
}

TEST_F(Listener, StatisticsComeWhole) {
  start();
  Client client(options());
  ASSERT_TRUE(client) << tictac_error();
  EXPECT_EQ(client.stats(), std::string(100'000, 's'));
  std::string document;
  EXPECT_EQ(read_stats(path, &document), TICTAC_OK);
  EXPECT_EQ(document.size(), 100'000U);
}

TEST_F(Listener, LimitsAreToldAndMemoryComesBack) {
  start();
  EXPECT_EQ(Client(options(2 << 20)).connect_status(), TICTAC_REFUSED);
  EXPECT_NE(std::string(tictac_error()).find("max_arena_mb"), std::string::npos) << tictac_error();
  for (int round = 0; round < 3; ++round) {
    Client a(options(1 << 20));
    Client b(options(1 << 20));
    ASSERT_TRUE(a && b) << tictac_error();
    EXPECT_EQ(Client(options(1 << 20)).connect_status(), TICTAC_REFUSED);
    EXPECT_NE(std::string(tictac_error()).find("max_total_arena_mb"), std::string::npos) << tictac_error();
    a = Client();
    b = Client();
    ASSERT_TRUE(eventually([this] { return clients == 0; }));
  }
  Client a(options());
  Client b(options());
  Client c(options());
  EXPECT_EQ(Client(options()).connect_status(), TICTAC_REFUSED);
  EXPECT_NE(std::string(tictac_error()).find("max_clients"), std::string::npos) << tictac_error();
}

TEST_F(Listener, AKilledApplicationGivesEverythingBack) {
  start();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Client client(options(1 << 20));
    tictac_name_id name = 0;
    client.name("nobody serves this", &name);
    for (uint64_t tag = 0; tag < 16; ++tag) client.fetch(name, 0, {}, tag);
    client.serve(name);
    while (true) pause();
  }
  ASSERT_TRUE(eventually([this] { return clients == 1; }));
  std::this_thread::sleep_for(20ms);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(eventually([this] { return clients == 0; }));
  Client next(options(1 << 20));
  EXPECT_TRUE(next) << tictac_error();
}

TEST_F(Listener, SocketsAreNeverTakenFromTheLiving) {
  start();
  auto second = NativeListener::open(config(), pair.ps->gateway, mailbox);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find(path.string()), std::string::npos);
  EXPECT_TRUE(Client(options()));  // the first still serves
}

TEST_F(Listener, LeftOversAndForeignFiles) {
  {
    const Fd fd(socket(AF_UNIX, SOCK_SEQPACKET, 0));  // as kill -9 leaves it
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  {
    auto opened = NativeListener::open(config(), pair.worker->gateway, mailbox);
    EXPECT_TRUE(opened.ok()) << opened.status();
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
  }
  EXPECT_FALSE(std::filesystem::exists(path));  // its own socket goes with it
  std::ofstream(path) << "precious";
  EXPECT_FALSE(NativeListener::open(config(), pair.worker->gateway, mailbox).ok());
  EXPECT_EQ(std::filesystem::file_size(path), 8U);
  NativeListener::Config too_long = config();
  too_long.path = "/tmp/" + std::string(120, 'x');
  const auto refused = NativeListener::open(too_long, pair.worker->gateway, mailbox);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("107"), std::string::npos);
}

TEST_F(Listener, StrangersAreSentAway) {
  start();
  const Fd fd(socket(AF_UNIX, SOCK_SEQPACKET, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(send(fd.get(), "GET / HTTP/1.1\r\n", 16, 0), 16);
  char buffer[512];
  EXPECT_GT(recv(fd.get(), buffer, sizeof(buffer), 0), 0);  // the refusal
  EXPECT_EQ(recv(fd.get(), buffer, sizeof(buffer), 0), 0);  // the end
}

}  // namespace
}  // namespace tictac::native
