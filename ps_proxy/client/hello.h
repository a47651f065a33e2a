#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/base/types.h"

// Messages on the proxy's native socket (SOCK_SEQPACKET: one message a packet).
//
//   client -> proxy   Hello
//   proxy  -> client  HelloReply, with three descriptors if accepted: control memory, arena, doorbell
//   client -> proxy   StatsRequest, at any time later
//   proxy  -> client  StatsReply, in pieces
//
// The end of the connection is the end of the session, whoever closes it.
namespace tictac::native {

inline constexpr uint32_t kHelloMagic = 0x54544e31;  // "TTN1"
inline constexpr uint8_t kAbiVersion = 1;
inline constexpr size_t kMostMessage = 256 * 1024;
inline constexpr int kDescriptors = 3;

struct Hello {
  uint8_t lowest_version = kAbiVersion;
  uint8_t highest_version = kAbiVersion;
  uint32_t max_operations = 0;
  uint64_t arena_bytes = 0;
  std::string job;
  std::string application;
};

struct HelloReply {
  uint8_t version = 0;  // chosen; 0: refused, `message` says why
  std::string message;
  uint32_t max_operations = 0;
  uint64_t arena_bytes = 0;
  std::vector<std::string> peers;
};

// One piece of a JSON document.
struct StatsReply {
  uint32_t id = 0;  // of the request
  bool last = false;
  std::string piece;
};
inline constexpr size_t kStatsPiece = 32 * 1024;

std::vector<uint8_t> encode(const Hello& hello);
std::vector<uint8_t> encode(const HelloReply& reply);
std::vector<uint8_t> encode(const StatsReply& reply);
std::vector<uint8_t> encode_stats_request(uint32_t id);

// False when the bytes are no such message. `out` is then unspecified.
bool decode(ByteSpan bytes, Hello* out);
bool decode(ByteSpan bytes, HelloReply* out);
bool decode(ByteSpan bytes, StatsReply* out);
bool decode_stats_request(ByteSpan bytes, uint32_t* id);

}  // namespace tictac::native
