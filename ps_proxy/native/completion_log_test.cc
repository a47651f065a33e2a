#include "ps_proxy/native/completion_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ps_proxy/native/native_job.h"

namespace tictac::native {
namespace {

class Log : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("tictac_log_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    path = folder / "log";
    name.text = "edge_1_w\t\xff/read";
    fetch.name = &name;
    fetch.version = ScheduleVersion(3);
    fetch.rank = Rank(7);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  static std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder;
  std::filesystem::path path;
  NativeName name;
  Fetch fetch;
};

TEST_F(Log, OneLineForEachFetch) {
  auto log = CompletionLog::open(path, 1 << 20);
  ASSERT_TRUE(log.ok());
  (*log)->add(Time{1us}, "job", fetch, TICTAC_OK, 42);
  (*log)->write();
  EXPECT_EQ(text_of(path), "1000\tjob\t3\t7\tok\t42\tedge_1_w\\t\\xff/read\n");
}

TEST_F(Log, IsBoundedInMemoryAndOnDisk) {
  auto log = CompletionLog::open(path, 10'000);
  ASSERT_TRUE(log.ok());
  for (int i = 0; i < 5000; ++i) (*log)->add(Time{1s}, "job", fetch, TICTAC_OK, 42);
  EXPECT_GT((*log)->dropped(), 0U);
  (*log)->write();
  EXPECT_LE(std::filesystem::file_size(path), 10'000U);
  EXPECT_LE(std::filesystem::file_size(path.string() + ".1"), 10'000U);
}

TEST_F(Log, AFileThatCannotBeWrittenIsNamed) {
  const auto log = CompletionLog::open(folder / "no" / "log", 1);
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.status().message().find("no/log"), std::string::npos);
}

}  // namespace
}  // namespace tictac::native
