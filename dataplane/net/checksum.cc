#include "dataplane/net/checksum.h"

#include <cstring>

namespace tictac {
namespace {

constexpr uint8_t kUdp = 17;

uint16_t fold(uint64_t sum) {
  while (sum >> 16) sum = (sum >> 16) + (sum & 0xffff);
  return static_cast<uint16_t>(sum);
}

}  // namespace

void InternetSum::add(ByteSpan bytes) {
  // The sum does not care about byte order until it is folded (RFC 1071, 2(B)): add native words, swap once.
  // 32-bit words into independent 64-bit lanes, so that the compiler makes vectors of them.
  uint64_t lanes[4] = {};
  const uint8_t* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 16; at += 16, left -= 16) {
    uint32_t words[4];
    std::memcpy(words, at, sizeof words);
    for (int i = 0; i < 4; ++i) lanes[i] += words[i];
  }
  uint64_t native = uint64_t{fold(lanes[0])} + fold(lanes[1]) + fold(lanes[2]) + fold(lanes[3]);
  for (; left >= 2; at += 2, left -= 2) {
    uint16_t word = 0;
    std::memcpy(&word, at, sizeof word);
    native += word;
  }
  if (left == 1) {
    uint16_t word = 0;
    std::memcpy(&word, at, 1);  // padded with a zero byte behind, in memory order
    native += word;
  }
  uint16_t folded = fold(native);
  if constexpr (std::endian::native == std::endian::little) {
    folded = static_cast<uint16_t>((folded << 8) | (folded >> 8));
  }
  sum_ += folded;
}

uint16_t InternetSum::checksum() const { return static_cast<uint16_t>(~fold(sum_)); }

uint16_t checksum_of(ByteSpan bytes) {
  InternetSum sum;
  sum.add(bytes);
  return sum.checksum();
}

uint16_t udp_checksum(Ipv4 source, Ipv4 destination, ByteSpan datagram) {
  InternetSum sum;
  sum.add_u32(source);
  sum.add_u32(destination);
  sum.add_u16(kUdp);
  sum.add_u16(static_cast<uint16_t>(datagram.size()));
  sum.add(datagram);
  const uint16_t checksum = sum.checksum();
  return checksum == 0 ? 0xffff : checksum;
}

}  // namespace tictac
