// Frames from the wire into the UDP stack; what it wants to send back must parse again.
#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/net/udp_stack.h"

using namespace tictac;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Time now{1s};
  static const UdpStack::Config config = {.mac = {{2, 0, 0, 0, 0, 0xb}}, .local = {0x0a000002, 7472}};
  UdpStack stack(config, now);
  std::array<uint8_t, UdpStack::kMaxOwnFrame> frame{};
  stack.finish(now, {0x0a000001, 7471}, 10, frame);  // so that there is a neighbour to learn
  stack.receive(now, {data, size}, size % 2 == 0);
  while (const size_t own = stack.next_own_frame(now, frame)) {
    if (parse_frame({frame.data(), own}).kind >= FrameKind::kFirstError) __builtin_trap();
  }
  return 0;
}
