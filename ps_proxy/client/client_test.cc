// The library against a proxy that is not there, or is none.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "ps_proxy/client/client_state.h"
#include "ps_proxy/client/hello.h"
#include "ps_proxy/client/tictac.hpp"

namespace tictac::native {
namespace {

class Connect : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("tictac_client_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    path = folder / "native.sock";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  int connect(const std::string& socket) {
    tictac_options options{};
    options.socket = socket.c_str();
    options.application = "test";
    options.job = "job";
    return connect(options);
  }
  static int connect(const tictac_options& options) {
    tictac_client* client = nullptr;
    const int status = tictac_connect(&options, &client);
    EXPECT_EQ(client, nullptr);
    return status;
  }
  // Accepts one connection and answers its hello with these bytes.
  std::thread answer_with(std::vector<uint8_t> reply) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    listening = Fd(socket(AF_UNIX, SOCK_SEQPACKET, 0));
    EXPECT_EQ(bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listening.get(), 1), 0);
    return std::thread([this, reply = std::move(reply)] {
      const Fd peer(accept(listening.get(), nullptr, nullptr));
      std::array<char, 1024> hello;
      (void)recv(peer.get(), hello.data(), hello.size(), 0);
      if (!reply.empty()) (void)send(peer.get(), reply.data(), reply.size(), 0);
    });
  }

  std::filesystem::path folder;
  std::filesystem::path path;
  Fd listening;
};

TEST_F(Connect, NobodyThereNamesPathAndCure) {
  EXPECT_EQ(connect(path), TICTAC_NO_PROXY);
  EXPECT_NE(std::string(tictac_error()).find(path.string()), std::string::npos);
  EXPECT_NE(std::string(tictac_error()).find("start tictac-proxy"), std::string::npos);
}

TEST_F(Connect, APathThatIsTooLongSaysSo) {
  EXPECT_EQ(connect(std::string(200, 'x')), TICTAC_BAD_ARGUMENT);
  EXPECT_NE(std::string(tictac_error()).find("107"), std::string::npos);
}

TEST_F(Connect, OptionsAreChecked) {
  tictac_options options{};
  options.socket = path.c_str();
  EXPECT_EQ(connect(options), TICTAC_BAD_ARGUMENT);
  options.application = "a";
  EXPECT_EQ(connect(options), TICTAC_BAD_ARGUMENT);
  options.job = "";
  EXPECT_EQ(connect(options), TICTAC_BAD_ARGUMENT);
  const std::string long_name(TICTAC_MAX_JOB + 1, 'j');
  options.job = long_name.c_str();
  EXPECT_EQ(connect(options), TICTAC_BAD_ARGUMENT);
  options.job = "j";
  options.max_operations = 1 << 20;
  EXPECT_EQ(connect(options), TICTAC_BAD_ARGUMENT);
  EXPECT_EQ(tictac_connect(nullptr, nullptr), TICTAC_BAD_ARGUMENT);
}

TEST_F(Connect, ARefusalCarriesTheProxysWords) {
  std::thread proxy = answer_with(encode(HelloReply{.version = 0, .message = "no room"}));
  EXPECT_EQ(connect(path), TICTAC_REFUSED);
  EXPECT_STREQ(tictac_error(), "no room");
  proxy.join();
}

TEST_F(Connect, NonsenseIsRefused) {
  std::thread proxy = answer_with({1, 2, 3});
  EXPECT_EQ(connect(path), TICTAC_REFUSED);
  proxy.join();
}

TEST_F(Connect, AnAcceptanceWithoutMemoryIsRefused) {
  std::thread proxy =
      answer_with(encode(HelloReply{.version = kAbiVersion, .max_operations = 4, .arena_bytes = 64}));
  EXPECT_EQ(connect(path), TICTAC_REFUSED);
  proxy.join();
}

TEST_F(Connect, AProxyThatHangsUpIsGone) {
  std::thread proxy = answer_with({});
  EXPECT_EQ(connect(path), TICTAC_PROXY_GONE);
  proxy.join();
}

TEST(NoClient, EveryCallSaysSo) {
  tictac_event event;
  tictac_name_id id = 0;
  size_t size = 0;
  char text[8];
  EXPECT_EQ(tictac_alloc(nullptr, 1), nullptr);
  tictac_free(nullptr, nullptr);
  tictac_close(nullptr);
  EXPECT_EQ(tictac_name(nullptr, "w", &id), TICTAC_BAD_ARGUMENT);
  EXPECT_EQ(tictac_name(nullptr, "", &id), TICTAC_BAD_ARGUMENT);
  EXPECT_EQ(tictac_peer(nullptr, "p", &id), TICTAC_BAD_ARGUMENT);
  EXPECT_EQ(tictac_fetch(nullptr, 0, 0, nullptr, 0, 0), TICTAC_BAD_ARGUMENT);
  EXPECT_EQ(tictac_cancel(nullptr, 0), TICTAC_BAD_ARGUMENT);
  EXPECT_EQ(tictac_serve(nullptr, 0), TICTAC_BAD_ARGUMENT);
  EXPECT_EQ(tictac_answer(nullptr, 0, nullptr, 0), TICTAC_BAD_ARGUMENT);
  EXPECT_EQ(tictac_decline(nullptr, 0), TICTAC_BAD_ARGUMENT);
  EXPECT_EQ(tictac_wait(nullptr, &event, 1, 0), -TICTAC_BAD_ARGUMENT);
  EXPECT_EQ(tictac_wait_peer(nullptr, 0, 0), TICTAC_BAD_ARGUMENT);
  EXPECT_EQ(tictac_stats(nullptr, text, sizeof(text), &size), TICTAC_BAD_ARGUMENT);
  EXPECT_EQ(tictac_peer_is_up(nullptr, 0), 0);
  EXPECT_EQ(tictac_name_text(nullptr, 0), nullptr);
}

TEST(Statuses, AllHaveTexts) {
  for (int status = TICTAC_OK; status <= TICTAC_PROTOCOL; ++status) {
    EXPECT_STRNE(tictac_status_text(status), "unknown status") << status;
  }
  EXPECT_STREQ(tictac_status_text(-1), "unknown status");
}

}  // namespace
}  // namespace tictac::native
