// Frames into a relay: what leaves was whole and ours or foreign, nothing is lost without a count. Input: u8
// length, that many bytes, and so on; a length of 255 takes all that is left.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "dataplane/relay/relay.h"
#include "tests/fakes/fake_port.h"

using namespace tictac;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FakePort in(200);
  FakePort out(150);
  RelayDirection relay({.link_rate = Rate(1'000'000'000), .queue = 64}, in, out);
  while (size > 0) {
    const size_t length = *data == 255 ? size - 1 : std::min<size_t>(*data, size - 1);
    in.arriving.emplace_back(data + 1, data + 1 + length);
    data += 1 + length;
    size -= 1 + length;
  }
  const size_t given = in.arriving.size();
  Time now{1s};
  while (!(in.arriving.empty() && relay.empty())) {
    relay.poll_once(now);
    now += 10us;
  }
  const RelayCounters counters = relay.counters();
  const uint64_t dropped = std::accumulate(counters.drops.begin(), counters.drops.end(), uint64_t{0});
  if (counters.received != given || out.sent.size() + dropped != given) __builtin_trap();
  if (counters.ours + counters.passed != out.sent.size() || counters.inversions != 0) __builtin_trap();
  if (in.buffers_out != 0 || out.buffers_out != 0) __builtin_trap();
  return 0;
}
