#include "ps_proxy/native/preamble.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tictac::native {
namespace {

std::vector<uint8_t> bytes_of(const FetchPreamble& preamble) {
  std::array<uint8_t, kMostFetchPreamble> buffer;
  const ByteSpan span = encode(preamble, buffer);
  return {span.begin(), span.end()};
}

TEST(Preamble, ComesBackAsItWas) {
  const std::string longest(TICTAC_MAX_NAME, 'n');
  for (const std::string& name : {std::string("w"), std::string("\xff odd"), longest}) {
    for (const uint64_t room : {uint64_t{0}, uint64_t{63}, uint64_t{1} << 40}) {
      const auto bytes = bytes_of({room, name});
      const auto back = decode_fetch(bytes);
      ASSERT_TRUE(back);
      EXPECT_EQ(back->room, room);
      EXPECT_EQ(back->name, name);
    }
  }
}

TEST(Preamble, RefusesWhatIsNone) {
  auto bytes = bytes_of({5, "w"});
  EXPECT_FALSE(decode_fetch({}));
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode_fetch(ByteSpan(bytes).first(n))) << n;
  auto other_kind = bytes;
  other_kind[0] = 2;
  EXPECT_FALSE(decode_fetch(other_kind));
  EXPECT_FALSE(decode_fetch(bytes_of({5, std::string_view("a\0b", 3)})));
  std::vector<uint8_t> too_long = bytes;
  too_long.resize(2 + TICTAC_MAX_NAME + 1, 'x');
  EXPECT_FALSE(decode_fetch(too_long));
}

TEST(Codes, NameTheEnd) {
  for (const tictac_status status :
       {TICTAC_CANCELLED, TICTAC_DECLINED, TICTAC_APP_GONE, TICTAC_PARKED_FULL}) {
    EXPECT_EQ(end_of_code(code_of(status)).status, status);
  }
  EXPECT_EQ(end_of_code(0).status, TICTAC_PROTOCOL);  // success is no code
  EXPECT_EQ(end_of_code(77).status, TICTAC_PROTOCOL);
  for (const uint64_t size : {uint64_t{1}, uint64_t{4096}, uint64_t{4097}, uint64_t{1} << 40}) {
    const FetchEnd end = end_of_code(code_of_too_large(size));
    EXPECT_EQ(end.status, TICTAC_BUFFER_SMALL);
    EXPECT_GE(end.size, size);
    EXPECT_LT(end.size, size + 4096);
  }
}

}  // namespace
}  // namespace tictac::native
