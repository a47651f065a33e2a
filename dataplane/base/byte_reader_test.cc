#include "dataplane/base/byte_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "dataplane/base/byte_writer.h"

namespace tictac {
namespace {

using ::testing::ElementsAre;

TEST(ByteReader, ReadsBackWhatByteWriterWrote) {
  std::array<uint8_t, 64> buffer{};
  ByteWriter writer(buffer);
  writer.u8(0xab);
  writer.u16(0x1234);
  writer.u32(0xdeadbeef);
  writer.u64(0x0102030405060708);
  writer.bytes(std::array<uint8_t, 2>{7, 9});
  ASSERT_TRUE(writer.ok());

  ByteReader reader(writer.written());
  EXPECT_EQ(reader.u8(), 0xab);
  EXPECT_EQ(reader.u16(), 0x1234);
  EXPECT_EQ(reader.u32(), 0xdeadbeef);
  EXPECT_EQ(reader.u64(), 0x0102030405060708U);
  EXPECT_THAT(reader.take(2), ElementsAre(7, 9));
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.remaining(), 0U);
}

TEST(ByteReader, VarintsOfEverySizeRoundTrip) {
  for (const uint64_t v : {uint64_t{0}, uint64_t{63}, uint64_t{64}, uint64_t{16383}, uint64_t{16384},
                           (uint64_t{1} << 30) - 1, uint64_t{1} << 30, kMaxVarint}) {
    std::array<uint8_t, 8> buffer{};
    ByteWriter writer(buffer);
    writer.varint(v);
    EXPECT_EQ(writer.size(), varint_size(v));
    ByteReader reader(writer.written());
    EXPECT_EQ(reader.varint(), v);
    EXPECT_TRUE(reader.ok());
    ByteReader cut(writer.written().first(writer.size() - 1));
    EXPECT_EQ(cut.varint(), 0U);
    EXPECT_FALSE(cut.ok());
  }
}

TEST(ByteReader, FailureIsForGood) {
  const std::array<uint8_t, 3> bytes = {1, 2, 3};
  ByteReader reader(bytes);
  EXPECT_EQ(reader.u32(), 0U);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0U);
  EXPECT_TRUE(reader.take(1).empty());
  EXPECT_FALSE(reader.ok());
}

TEST(ByteWriter, WritesNothingThatDoesNotFit) {
  std::array<uint8_t, 3> buffer{};
  ByteWriter writer(buffer);
  writer.u16(0xffff);
  writer.u16(0xffff);
  EXPECT_FALSE(writer.ok());
  writer.u8(1);
  EXPECT_THAT(buffer, ElementsAre(0xff, 0xff, 0));
  EXPECT_EQ(writer.size(), 2U);
}

TEST(ByteWriter, RefusesAVarintBeyond62Bits) {
  std::array<uint8_t, 16> buffer{};
  ByteWriter writer(buffer);
  writer.varint(kMaxVarint + 1);
  EXPECT_FALSE(writer.ok());
}

}  // namespace
}  // namespace tictac
