#include "dataplane/transport/wire/frames.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tictac::wire {
namespace {

using Bytes = std::vector<uint8_t>;

template <typename Frame>
Bytes written(const Frame& frame) {
  std::array<uint8_t, 256> buffer{};
  ByteWriter out(buffer);
  EXPECT_TRUE(write(out, frame));
  return {out.written().begin(), out.written().end()};
}

// The bytes are a contract with other builds. What is written reads back to the same bytes; every cut is
// refused; a buffer that is a byte too small is refused.
template <typename Frame>
void expect_golden(const Frame& frame, const Bytes& golden) {
  ASSERT_EQ(written(frame), golden);
  ByteReader in(ByteSpan(golden).subspan(1));
  Frame again;
  ASSERT_TRUE(read(in, &again));
  EXPECT_EQ(in.remaining(), 0U);
  EXPECT_EQ(written(again), golden);
  for (size_t size = 1; size < golden.size(); ++size) {
    ByteReader cut(ByteSpan(golden).subspan(1, size - 1));
    Frame none;
    EXPECT_FALSE(read(cut, &none)) << "cut to " << size;
    Bytes small(size);
    ByteWriter out(small);
    EXPECT_FALSE(write(out, frame)) << "room for " << size;
  }
}

TEST(Frames, GoldenBytes) {
  expect_golden(MaxDataFrame{100}, {3, 0x40, 100});
  expect_golden(MaxStreamDataFrame{5, 70000}, {4, 5, 0x80, 0x01, 0x11, 0x70});
  expect_golden(ResetFrame{6, 7, 8}, {7, 6, 7, 8});
  expect_golden(StopSendingFrame{6, 0xffffffff}, {8, 6, 0xc0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff});
  expect_golden(RerankFrame{1, 2, 3}, {9, 1, 2, 3});
  expect_golden(CloseFrame{9}, {10, 9});
  expect_golden(LeastAwaitedFrame{kMaxVarint}, {12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
}

TEST(Frames, GoldenOpenAndHello) {
  const Bytes preamble{0xaa, 0xbb};
  expect_golden(OpenFrame{.stream = 4,
                          .rank = 17,
                          .version = 2,
                          .request_class = TransferClass::kControl,
                          .answer_class = TransferClass::kBulk,
                          .request_is_empty = true,
                          .answer_limit = 63,
                          .job = "jb",
                          .preamble = preamble},
                {5, 4, 17, 2, 0, 2, 1, 63, 2, 'j', 'b', 0, 2, 0xaa, 0xbb});
  expect_golden(
      HelloFrame{.lowest_version = 1,
                 .highest_version = 2,
                 .features = 3,
                 .incarnation = 4,
                 .echoed_incarnation = 5,
                 .session = 6,
                 .max_datagram = 1472,
                 .name = "w"},
      {11, 1, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 6, 5, 0xc0, 1, 'w'});
}

TEST(Frames, GoldenStream) {
  std::array<uint8_t, 64> buffer{};
  ByteWriter out(buffer);
  const MutableByteSpan payload =
      write_stream(out, {.stream = 1, .offset = 64, .accept_time_us = 0x01020304, .end = true}, 2);
  ASSERT_EQ(payload.size(), 2U);
  payload[0] = 0xee;
  payload[1] = 0xff;
  const Bytes golden{6, 1, 0x40, 64, 1, 2, 3, 4, 1, 0, 2, 0xee, 0xff};
  EXPECT_EQ(Bytes(out.written().begin(), out.written().end()), golden);
  EXPECT_EQ(stream_overhead(1, 64) + 2, golden.size());
  for (size_t size = 0; size + 1 < golden.size(); ++size) {
    ByteReader cut(ByteSpan(golden).subspan(1, size));
    StreamFrame none;
    EXPECT_FALSE(read(cut, &none)) << size;
  }
  ByteReader in(ByteSpan(golden).subspan(1));
  StreamFrame frame;
  ASSERT_TRUE(read(in, &frame));
  EXPECT_EQ(frame.offset, 64U);
  EXPECT_EQ(frame.accept_time_us, 0x01020304U);
  EXPECT_TRUE(frame.end);
  EXPECT_EQ(Bytes(frame.bytes.begin(), frame.bytes.end()), Bytes({0xee, 0xff}));
}

TEST(Frames, HostileFieldsAreRefused) {
  const auto refused = [](auto frame, const Bytes& bytes) {
    ByteReader in(bytes);
    return !read(in, &frame);
  };
  const Bytes beyond_u32{0xc0, 0, 0, 1, 0, 0, 0, 0};
  Bytes code = beyond_u32;
  EXPECT_TRUE(refused(CloseFrame{}, code));
  code.insert(code.begin(), 1);
  EXPECT_TRUE(refused(StopSendingFrame{}, code));
  EXPECT_TRUE(refused(OpenFrame{}, {4, 17, 2, 3, 2, 1, 63, 0, 0, 0})) << "class 3";
  EXPECT_TRUE(refused(OpenFrame{}, {4, 17, 2, 0, 9, 1, 63, 0, 0, 0})) << "class 9";
  EXPECT_TRUE(refused(StreamFrame{}, {1, 0, 0, 0, 0, 0, 2, 0, 0})) << "end 2";
  EXPECT_TRUE(
      refused(StreamFrame{}, {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 1, 7}))
      << "past the largest offset";
}

std::vector<std::pair<uint64_t, uint64_t>> ranges_of(const Bytes& body, bool* ok) {
  ByteReader in(body);
  AckFrame ack;
  *ok = AckFrame::read(in, &ack);
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  if (*ok) ack.for_each([&](const NumberRange& r) { ranges.emplace_back(r.first, r.last); });
  return ranges;
}

Bytes ack_of(const std::vector<NumberRange>& ranges, size_t room) {
  Bytes buffer(room);
  ByteWriter out(buffer);
  size_t next = 0;
  const bool ok = AckFrame::write(out, room, 7, [&](NumberRange* range) {
    if (next == ranges.size()) return false;
    *range = ranges[next++];
    return true;
  });
  if (!ok) return {};
  return {out.written().begin(), out.written().end()};
}

TEST(Ack, GoldenBytes) {
  const Bytes golden{2, 20, 7, 0, 2, 1, 3, 4, 0, 0};
  EXPECT_EQ(ack_of({{19, 20}, {13, 13}, {11, 11}}, 200), Bytes({2, 20, 7, 0, 2, 1, 4, 0, 0, 0}));
  bool ok = false;
  const auto ranges = ranges_of(Bytes(golden.begin() + 1, golden.end()), &ok);
  ASSERT_TRUE(ok);
  EXPECT_EQ(ranges, (std::vector<std::pair<uint64_t, uint64_t>>{{19, 20}, {10, 14}, {8, 8}}));
  for (size_t size = 0; size + 1 < golden.size(); ++size) {
    ranges_of(Bytes(golden.begin() + 1, golden.begin() + 1 + static_cast<ptrdiff_t>(size)), &ok);
    EXPECT_FALSE(ok) << size;
  }
}

TEST(Ack, RangesBelowZeroAreRefused) {
  bool ok = true;
  ranges_of({3, 0, 0, 0, 4}, &ok);
  EXPECT_FALSE(ok) << "first range is longer than the largest number";
  ranges_of({3, 0, 0, 1, 2, 0, 0}, &ok);
  EXPECT_FALSE(ok) << "no room for a gap";
  ranges_of({9, 0, 0, 1, 2, 9, 0}, &ok);
  EXPECT_FALSE(ok) << "gap";
  ranges_of({9, 0, 0, 1, 2, 0, 6}, &ok);
  EXPECT_FALSE(ok) << "second range is too long";
  ranges_of({9, 0, 0xff, 0xff, 2, 0, 0}, &ok);
  EXPECT_FALSE(ok) << "fewer ranges than said";
  ranges_of({9, 0xc0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2}, &ok);
  EXPECT_FALSE(ok) << "delay beyond 32 bits";
}

TEST(Ack, WritesTheNewestRangesThatFit) {
  std::vector<NumberRange> many;
  for (uint64_t n = 100'000; n > 50'000; n -= 4) many.push_back({n, n + 1});
  const Bytes full = ack_of(many, 300);
  ASSERT_FALSE(full.empty());
  EXPECT_LE(full.size(), 300U);
  bool ok = false;
  const auto ranges = ranges_of(Bytes(full.begin() + 1, full.end()), &ok);
  ASSERT_TRUE(ok);
  ASSERT_GT(ranges.size(), 100U);
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(ranges[i].first, many[i].first);
    EXPECT_EQ(ranges[i].second, many[i].last);
  }
  EXPECT_TRUE(ack_of(many, 20).empty()) << "not even the first fits";
}

}  // namespace
}  // namespace tictac::wire
