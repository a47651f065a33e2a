#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tictac::replay {

// What the bytes of a tensor in a step must be. Word i (64 bits, little-endian) is seed + i * an odd
// constant: fast enough to be written and checked at memory speed, and different in every word, tensor and
// step, so that a piece that is missing, old, twice or in the wrong place shows.
uint64_t content_seed(std::string_view name, uint64_t step);
// The seed for the bytes from `offset` (a multiple of 8) on.
uint64_t content_seed_at(uint64_t seed, size_t offset);
void fill(uint64_t seed, uint8_t* bytes, size_t size);
// Index of the first wrong byte, or `size` when all are right.
size_t first_wrong(uint64_t seed, const uint8_t* bytes, size_t size);

}  // namespace tictac::replay
