#include "control/replay/content.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tictac::replay {
namespace {

constexpr uint64_t kStride = 0x9e3779b97f4a7c15;
constexpr size_t kWord = sizeof(uint64_t);

// Finalizer of SplitMix64 (Steele et al., OOPSLA 2014).
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t content_seed(std::string_view name, uint64_t step) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return mix(hash + step * kStride);
}

uint64_t content_seed_at(uint64_t seed, size_t offset) { return seed + offset / kWord * kStride; }

void fill(uint64_t seed, uint8_t* bytes, size_t size) {
  const size_t words = size / kWord;
  for (size_t i = 0; i < words; ++i) {
    const uint64_t word = seed + i * kStride;
    std::memcpy(bytes + i * kWord, &word, kWord);
  }
  const uint64_t last = seed + words * kStride;
  std::memcpy(bytes + words * kWord, &last, size % kWord);
}

size_t first_wrong(uint64_t seed, const uint8_t* bytes, size_t size) {
  constexpr size_t kBlock = 4096;
  std::array<uint8_t, kBlock> expected;
  for (size_t at = 0; at < size; at += kBlock) {
    const size_t length = std::min(kBlock, size - at);
    fill(content_seed_at(seed, at), expected.data(), length);
    if (std::memcmp(expected.data(), bytes + at, length) == 0) continue;
    for (size_t i = 0; i < length; ++i) {
      if (expected[i] != bytes[at + i]) return at + i;
    }
  }
  return size;
}

}  // namespace tictac::replay
