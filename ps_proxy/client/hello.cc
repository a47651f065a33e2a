#include "ps_proxy/client/hello.h"

#include "dataplane/base/byte_reader.h"
#include "dataplane/base/byte_writer.h"
#include "ps_proxy/client/native_abi.h"

namespace tictac::native {
namespace {

enum class MessageType : uint8_t { kHello = 1, kHelloReply = 2, kStatsRequest = 3, kStatsReply = 4 };

ByteSpan bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

void put_text(ByteWriter& out, std::string_view text) {
  out.u16(static_cast<uint16_t>(text.size()));
  out.bytes(bytes_of(text));
}

std::string take_text(ByteReader& in) {
  const ByteSpan bytes = in.take(in.u16());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void put_head(ByteWriter& out, MessageType type) {
  out.u32(kHelloMagic);
  out.u8(static_cast<uint8_t>(type));
}

bool take_head(ByteReader& in, MessageType type) {
  const bool ours = in.u32() == kHelloMagic;
  return in.u8() == static_cast<uint8_t>(type) && ours;
}

std::vector<uint8_t> finish(std::vector<uint8_t> buffer, const ByteWriter& out) {
  buffer.resize(out.ok() ? out.size() : 0);
  return buffer;
}

}  // namespace

std::vector<uint8_t> encode(const Hello& hello) {
  std::vector<uint8_t> buffer(64 + hello.job.size() + hello.application.size());
  ByteWriter out(buffer);
  put_head(out, MessageType::kHello);
  out.u8(hello.lowest_version);
  out.u8(hello.highest_version);
  out.u32(hello.max_operations);
  out.u64(hello.arena_bytes);
  put_text(out, hello.job);
  put_text(out, hello.application);
  return finish(std::move(buffer), out);
}

// What a later version adds behind these fields is ignored here: it is the lowest version both know that
// counts.
bool decode(ByteSpan bytes, Hello* hello) {
  ByteReader in(bytes);
  if (!take_head(in, MessageType::kHello)) return false;
  hello->lowest_version = in.u8();
  hello->highest_version = in.u8();
  hello->max_operations = in.u32();
  hello->arena_bytes = in.u64();
  hello->job = take_text(in);
  hello->application = take_text(in);
  return in.ok();
}

std::vector<uint8_t> encode(const HelloReply& reply) {
  size_t size = 64 + reply.message.size();
  for (const std::string& peer : reply.peers) size += 2 + peer.size();
  std::vector<uint8_t> buffer(size);
  ByteWriter out(buffer);
  put_head(out, MessageType::kHelloReply);
  out.u8(reply.version);
  put_text(out, reply.message);
  out.u32(reply.max_operations);
  out.u64(reply.arena_bytes);
  out.u16(static_cast<uint16_t>(reply.peers.size()));
  for (const std::string& peer : reply.peers) put_text(out, peer);
  return finish(std::move(buffer), out);
}

bool decode(ByteSpan bytes, HelloReply* reply) {
  ByteReader in(bytes);
  if (!take_head(in, MessageType::kHelloReply)) return false;
  reply->version = in.u8();
  reply->message = take_text(in);
  reply->max_operations = in.u32();
  reply->arena_bytes = in.u64();
  const uint16_t count = in.u16();
  if (count > kMostPeers) return false;
  reply->peers.clear();
  for (uint16_t i = 0; i < count && in.ok(); ++i) reply->peers.push_back(take_text(in));
  return in.ok();
}

std::vector<uint8_t> encode(const StatsReply& reply) {
  std::vector<uint8_t> buffer(32 + reply.piece.size());
  ByteWriter out(buffer);
  put_head(out, MessageType::kStatsReply);
  out.u32(reply.id);
  out.u8(reply.last ? 1 : 0);
  out.bytes(bytes_of(reply.piece));
  return finish(std::move(buffer), out);
}

bool decode(ByteSpan bytes, StatsReply* reply) {
  ByteReader in(bytes);
  if (!take_head(in, MessageType::kStatsReply)) return false;
  reply->id = in.u32();
  reply->last = in.u8() != 0;
  if (!in.ok()) return false;
  reply->piece.assign(reinterpret_cast<const char*>(in.rest().data()), in.remaining());
  return true;
}

std::vector<uint8_t> encode_stats_request(uint32_t id) {
  std::vector<uint8_t> buffer(16);
  ByteWriter out(buffer);
  put_head(out, MessageType::kStatsRequest);
  out.u32(id);
  return finish(std::move(buffer), out);
}

bool decode_stats_request(ByteSpan bytes, uint32_t* id) {
  ByteReader in(bytes);
  if (!take_head(in, MessageType::kStatsRequest)) return false;
  *id = in.u32();
  return in.ok();
}

}  // namespace tictac::native
