#include "dataplane/transport/wire/header.h"

#include <array>

#include "dataplane/base/byte_reader.h"
#include "dataplane/base/byte_writer.h"
#include "dataplane/base/crc32c.h"

namespace tictac::wire {
namespace {

constexpr size_t kChecksumOffset = 4;
constexpr size_t kChecksumSize = 4;
constexpr uint8_t kKnownFlags = kHello | kRetransmission | kAckEliciting;

// The checksum field counts as zero.
uint32_t checksum_of(ByteSpan datagram) {
  constexpr std::array<uint8_t, kChecksumSize> kZeros{};
  const uint32_t before = crc32c(datagram.first(kChecksumOffset));
  return crc32c(datagram.subspan(kChecksumOffset + kChecksumSize), crc32c(kZeros, before));
}

}  // namespace

HeaderResult parse_header(ByteSpan datagram, Header* header) {
  if (datagram.size() < kHeaderSize) return HeaderResult::kTruncated;
  ByteReader reader(datagram.first(kHeaderSize));
  const uint8_t magic = reader.u8();
  const uint8_t version = reader.u8();
  header->flags = reader.u8();
  const uint8_t transfer_class = reader.u8();
  reader.u32();  // checksum
  header->session = reader.u32();
  header->rank = reader.u32();
  header->number = reader.u64();
  header->stream = reader.u32();
  header->send_time_us = reader.u32();
  const bool ours = magic == kMagic && version == kVersion && (header->flags & ~kKnownFlags) == 0 &&
                    transfer_class <= static_cast<uint8_t>(TransferClass::kBulk);
  if (!ours) return HeaderResult::kNotOurs;
  header->transfer_class = static_cast<TransferClass>(transfer_class);
  return HeaderResult::kOk;
}

bool checksum_matches(ByteSpan datagram) {
  ByteReader reader(datagram.subspan(kChecksumOffset, kChecksumSize));
  return reader.u32() == checksum_of(datagram);
}

void seal(MutableByteSpan datagram, const Header& header) {
  ByteWriter writer(datagram.first(kHeaderSize));
  writer.u8(kMagic);
  writer.u8(kVersion);
  writer.u8(header.flags);
  writer.u8(static_cast<uint8_t>(header.transfer_class));
  writer.u32(0);
  writer.u32(header.session);
  writer.u32(header.rank);
  writer.u64(header.number);
  writer.u32(header.stream);
  writer.u32(header.send_time_us);
  ByteWriter(datagram.subspan(kChecksumOffset, kChecksumSize)).u32(checksum_of(datagram));
}

}  // namespace tictac::wire
