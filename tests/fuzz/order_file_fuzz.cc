// Any bytes as an order file; what was read is written and read again.
#include <cstdint>

#include "control/order/order_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto order = tictac::parse_order(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!order.ok()) return 0;
  const auto again = tictac::parse_order(tictac::format_order(*order));
  // A name may begin with '#' or a byte-order mark only because a tab or a line stood before it.
  if (again.ok() && again->recvs.size() > order->recvs.size()) __builtin_trap();
  return 0;
}
