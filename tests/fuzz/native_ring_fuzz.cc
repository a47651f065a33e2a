// A client that writes anything into its shared memory, while another one and a peer work. The input is a row
// of steps: a submission of any content, a word anywhere in the control memory, or time.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dataplane/base/byte_reader.h"
#include "ps_proxy/native/test_host.h"

using namespace tictac;
using namespace tictac::native;

namespace {

void step(ByteReader& in, TestPair& pair, tictac_client* client) {
  switch (in.u8() % 4) {
    case 0: {  // small numbers, so that many are nearly right
      Submission submission{
          .op = static_cast<Op>(in.u8() % 9), .name = in.u8(), .peer = in.u8() % 2U, .slot = in.u8()};
      submission.offset = in.u16();
      submission.size = in.u16();
      submission.request = (uint64_t{1} << 32) | in.u8();
      submission.length = in.u8();
      submission.sequence = in.u8();
      if (client->submissions.room() > 0) client->submissions.push(submission);
      client->submissions.publish();
      break;
    }
    case 1: {
      TextEntry raw{};
      const ByteSpan bytes = in.take(sizeof(raw.bytes));
      if (!bytes.empty()) std::memcpy(raw.bytes, bytes.data(), bytes.size());
      if (client->submissions.room() > 0) client->submissions.push(raw);
      client->submissions.publish();
      break;
    }
    case 2: {
      auto* words = reinterpret_cast<std::atomic<uint64_t>*>(client->control.data());
      words[in.u16() % (client->control.size() / 8)].store(in.u64());
      break;
    }
    default:
      pair.run(50us * (1 + in.u8() % 8));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  TestPair pair;
  uint64_t id = 0;
  const TestClient hostile = pair.worker->connect("job", pair.now, 16, 4096, &id);
  const TestClient good = pair.worker->connect("job", pair.now, 16, 4096);
  const TestClient server = pair.ps->connect("job", pair.now, 16, 4096);
  tictac_name_id name = 0;
  tictac_name(server.get(), "w", &name);
  tictac_serve(server.get(), name);
  tictac_name(hostile.get(), "w", &name);

  ByteReader in({data, size});
  tictac_event event;
  while (in.remaining() > 0) {
    step(in, pair, hostile.get());
    while (tictac_wait(server.get(), &event, 1, 0) == 1) {
      if (event.kind == TICTAC_EVENT_REQUEST) {
        tictac_answer(server.get(), event.request, server->memory.data(),
                      event.size < 4096 ? event.size : 4096);
      }
    }
  }
  pair.worker->disconnect(id);
  if (!pair.run_until([&] { return !pair.worker->detached.empty(); }, 1s)) __builtin_trap();
  // The other client is served as before.
  tictac_name(good.get(), "w", &name);
  if (tictac_fetch(good.get(), name, 0, nullptr, 0, 1) != TICTAC_OK) __builtin_trap();
  tictac_answer(server.get(), pair.next(server.get(), TICTAC_EVENT_REQUEST).request, nullptr, 0);
  if (pair.next(good.get(), TICTAC_EVENT_COMPLETE).status != TICTAC_OK) __builtin_trap();
  return 0;
}
