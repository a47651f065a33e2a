#include "ps_proxy/client/hello.h"

#include <gtest/gtest.h>

#include "ps_proxy/client/native_abi.h"

namespace tictac::native {
namespace {

template <typename Message>
void expect_every_cut_refused(const std::vector<uint8_t>& bytes) {
  for (size_t n = 0; n < bytes.size(); ++n) {
    Message out;
    EXPECT_FALSE(decode(ByteSpan(bytes).first(n), &out)) << n << " of " << bytes.size();
  }
}

TEST(HelloMessages, ComeBackAsTheyWere) {
  Hello out;
  const auto bytes = encode(
      Hello{.max_operations = 7, .arena_bytes = uint64_t{1} << 33, .job = "job", .application = "worker0"});
  ASSERT_TRUE(decode(bytes, &out));
  EXPECT_EQ(out.max_operations, 7U);
  EXPECT_EQ(out.arena_bytes, uint64_t{1} << 33);
  EXPECT_EQ(out.job, "job");
  EXPECT_EQ(out.application, "worker0");
  EXPECT_EQ(out.highest_version, kAbiVersion);
  expect_every_cut_refused<Hello>(bytes);
}

TEST(HelloMessages, RepliesCarryPeers) {
  HelloReply out;
  const auto bytes = encode(
      HelloReply{.version = 1, .message = "", .max_operations = 5, .arena_bytes = 9, .peers = {"a", "b"}});
  ASSERT_TRUE(decode(bytes, &out));
  EXPECT_EQ(out.peers, (std::vector<std::string>{"a", "b"}));
  expect_every_cut_refused<HelloReply>(bytes);
}

TEST(HelloMessages, StatsPieces) {
  StatsReply out;
  ASSERT_TRUE(decode(encode(StatsReply{.id = 3, .last = true, .piece = "{}"}), &out));
  EXPECT_EQ(out.id, 3U);
  EXPECT_TRUE(out.last);
  EXPECT_EQ(out.piece, "{}");
  uint32_t id = 0;
  ASSERT_TRUE(decode_stats_request(encode_stats_request(9), &id));
  EXPECT_EQ(id, 9U);
}

TEST(HelloMessages, OneKindIsNotTakenForAnother) {
  Hello hello;
  uint32_t id = 0;
  EXPECT_FALSE(decode(encode_stats_request(1), &hello));
  EXPECT_FALSE(decode_stats_request(encode(Hello{}), &id));
}

}  // namespace
}  // namespace tictac::native
