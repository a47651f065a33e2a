// Among others the files of the field's cases C1 and C2.
#include "control/order/order_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace tictac {
namespace {

std::vector<std::pair<std::string, uint32_t>> entries(const std::string& content) {
  const auto order = parse_order(content);
  EXPECT_TRUE(order.ok()) << order.status();
  std::vector<std::pair<std::string, uint32_t>> list;
  for (const RankedRecv& recv : order->recvs) list.emplace_back(recv.name, recv.rank.value());
  return list;
}

using Entries = std::vector<std::pair<std::string, uint32_t>>;

TEST(OrderFile, ReadsWhatTheFormatAllows) {
  EXPECT_EQ(entries("a\t1\nb\t0\n"), (Entries{{"b", 0}, {"a", 1}}));
  EXPECT_EQ(entries("a\t1"), (Entries{{"a", 1}})) << "no last newline";
  EXPECT_EQ(entries("a\t1\r\nb\t2\r\n"), (Entries{{"a", 1}, {"b", 2}})) << "CRLF";
  EXPECT_EQ(entries(""), Entries{});
  EXPECT_EQ(entries("# comment\n\na\t0\n"), (Entries{{"a", 0}}));
  EXPECT_EQ(entries("\xef\xbb\xbf"
                    "a\t0\n"),
            (Entries{{"a", 0}}))
      << "byte-order mark";
  EXPECT_EQ(entries("a b\t0\n"), (Entries{{"a b", 0}})) << "blanks belong to the name";
  EXPECT_EQ(entries("a\tb\t7\n"), (Entries{{"a\tb", 7}})) << "the last tab counts";
  EXPECT_EQ(entries("\xff\xfe\t0\n"), (Entries{{"\xff\xfe", 0}}));
  EXPECT_EQ(entries("a\t0\nb\t0\nc\t2\nd\t2\ne\t7\nf\t2147483647\n").back().second, 2147483647U)
      << "ties and gaps";
}

TEST(OrderFile, RefusesTheRestWithItsLine) {
  const std::pair<std::string, const char*> cases[] = {
      {"a\t0\na\t1\n", "line 2"},
      {"a 0\n", "line 1"},
      {"a\tword\n", "line 1"},
      {"a\t99999999999\n", "line 1"},
      {"a\t1.5\n", "line 1"},
      {"a\t-1\n", "line 1"},
      {"a\t2147483648\n", "line 1"},
      {"x\t1\na\t\n", "line 2"},
      {"\t3\n", "line 1"},
      {"a\t1 \n", "line 1"},
      {"a\t+1\n", "line 1"},
      {"a\t0x1\n", "line 1"},
      {std::string("a\0b\t1\n", 6), "NUL"},
  };
  for (const auto& [content, named] : cases) {
    const auto order = parse_order(content);
    ASSERT_FALSE(order.ok()) << content;
    EXPECT_NE(order.status().message().find(named), absl::string_view::npos) << order.status();
  }
}

TEST(OrderFile, AMillionLinesTakeLessThanASecondOfThought) {
  std::string content;
  for (int i = 0; i < 1'000'000; ++i)
    content += "tensor/" + std::to_string(i) + "\t" + std::to_string(i) + "\n";
  EXPECT_EQ(parse_order(content)->recvs.size(), 1'000'000U);
}

TEST(OrderFile, RoundTripsThroughAFileAndNamesIt) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("tictac-order-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string path = folder / "o.tsv";
  const Order order = *parse_order("a\t0\nb\t3\n");
  ASSERT_TRUE(write_order_file(path, order).ok());
  EXPECT_EQ(format_order(*read_order_file(path)), "a\t0\nb\t3\n");
  mkfifo((folder / "fifo").c_str(), 0600);
  for (const fs::path& bad : {folder / "none", folder, folder / "fifo"}) {
    const auto read = read_order_file(bad);
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.status().message().find(bad.string()), absl::string_view::npos);
  }
  EXPECT_FALSE(write_order_file(folder / "no" / "o.tsv", order).ok());
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tictac
