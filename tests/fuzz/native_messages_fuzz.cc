// Messages on the native socket, and what a peer's gateway says in an OPEN.
#include <cstddef>
#include <cstdint>

#include "ps_proxy/client/hello.h"
#include "ps_proxy/native/name_forms.h"
#include "ps_proxy/native/preamble.h"

using namespace tictac;
using namespace tictac::native;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteSpan bytes(data, size);
  Hello hello;
  HelloReply reply;
  StatsReply stats;
  uint32_t id = 0;
  if (decode(bytes, &hello)) {
    Hello again;
    if (!decode(encode(hello), &again) || again.job != hello.job) __builtin_trap();
  }
  decode(bytes, &reply);
  decode(bytes, &stats);
  decode_stats_request(bytes, &id);
  if (const auto preamble = decode_fetch(bytes)) {
    for (const std::string_view form : forms_of(preamble->name)) {
      if (form.empty()) __builtin_trap();
    }
    auto_key(preamble->name);
  }
  if (size >= 4 &&
      end_of_code(static_cast<uint32_t>(data[0]) << 24 | data[1] << 16 | data[2] << 8 | data[3]).status ==
          TICTAC_OK) {
    __builtin_trap();
  }
  return 0;
}
