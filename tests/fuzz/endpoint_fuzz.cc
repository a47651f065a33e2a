// Datagrams of a hostile peer into an endpoint with a session and streams of both sides. The input is a row
// of (u8 kind, u16 size, frames); header and checksum are made valid, so that the frames are reached.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "dataplane/base/byte_reader.h"
#include "dataplane/transport/endpoint.h"
#include "dataplane/transport/wire/frames.h"
#include "dataplane/transport/wire/header.h"

using namespace tictac;

namespace {

constexpr Address kPeer{2, 2};

struct Source : TransferSource {
  uint64_t available() const override { return 5000; }
  bool finished() const override { return true; }
  void read(uint64_t offset, MutableByteSpan out) override {
    if (offset + out.size() > 5000 || offset < acked || done) __builtin_trap();
  }
  void on_acked(uint64_t offset) override {
    if (offset <= acked || offset > 5000) __builtin_trap();
    acked = offset;
  }
  void on_done(StreamEnd, uint32_t) override {
    if (std::exchange(done, true)) __builtin_trap();
  }
  uint64_t acked = 0;
  bool done = false;
};

struct Sink : TransferSink {
  uint64_t limit() const override { return kInitialRequestLimit; }
  void write(uint64_t offset, ByteSpan bytes) override {
    if (done || offset + bytes.size() > limit()) __builtin_trap();
  }
  void on_progress(uint64_t) override {}
  void on_done(StreamEnd, uint64_t, uint32_t) override {
    if (std::exchange(done, true)) __builtin_trap();
  }
  bool done = false;
};

struct World : EndpointEvents {
  World() { endpoint.add_peer("b", kPeer, now); }
  void on_peer_up(PeerId, const PeerUp&) override {}
  void on_peer_down(PeerId, PeerDownReason) override {}
  TransferSink* on_open(StreamRef stream, const OpenParams&) override {
    if (sources.size() >= 64) return nullptr;
    sources.emplace_back();
    sinks.emplace_back();
    if (sources.size() % 3 == 0) return &sinks.back();  // never answered
    if (!endpoint.answer(now, stream, &sources.back())) __builtin_trap();
    return sources.size() % 3 == 1 ? &sinks.back() : nullptr;
  }
  void on_abandoned(StreamRef, uint32_t) override {}

  void send(uint8_t flags, uint64_t number, ByteSpan frames) {
    std::vector<uint8_t> datagram(wire::kHeaderSize);
    datagram.insert(datagram.end(), frames.begin(), frames.end());
    wire::seal(datagram, {.flags = flags, .session = session, .number = number, .send_time_us = 7});
    endpoint.on_datagram(now, kPeer, datagram);
  }
  void hello(uint64_t incarnation) {
    std::array<uint8_t, 100> buffer{};
    ByteWriter out(buffer);
    wire::write(out, wire::HelloFrame{1, 1, 0, incarnation, 5, 77, 1472, "b"});
    send(wire::kHello, 0, out.written());
  }
  void drain() {
    std::array<uint8_t, 1472> out{};
    for (int i = 0; endpoint.next_datagram(now, out); ++i) {
      wire::Header header;
      wire::parse_header(out, &header);
      if (i > 10'000) __builtin_trap();
      if (!(header.flags & wire::kHello)) continue;
      ByteReader in(ByteSpan(out).subspan(wire::kHeaderSize + 1));
      wire::HelloFrame frame;
      if (!wire::read(in, &frame)) __builtin_trap();
      session = frame.session;
    }
  }

  Time now{1s};
  std::deque<Source> sources;
  std::deque<Sink> sinks;
  Sink own_sink;
  Scheduler scheduler{{}};
  Endpoint endpoint{
      {.name = "a", .incarnation = 5, .max_streams = 100, .session_window = 1 << 20}, scheduler, *this};
  uint32_t session = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  World world;
  world.drain();
  world.hello(3);
  world.drain();
  if (!world.endpoint.peer_is_up(PeerId(0))) __builtin_trap();
  const StreamRef own = world.endpoint.open(world.now, PeerId(0), {.job = "job"}, nullptr, &world.own_sink);
  world.drain();
  ByteReader in({data, size});
  for (uint64_t number = 1; in.remaining() > 0; ++number) {
    const uint8_t kind = in.u8();
    const size_t length = std::min<size_t>(in.u16() & 0x7ff, in.remaining());
    world.send(kind & 1 ? wire::kAckEliciting : 0, kind & 2 ? kind : number, in.take(length));
    if (kind & 4) world.now += Duration(1ms) * (kind >> 3);
    if (kind & 8) world.drain();
    if (kind == 0xff) world.endpoint.cancel(own, 1);
    if (kind == 0xfe) world.endpoint.rerank(own, Rank(9), ScheduleVersion(2));
    if (!world.endpoint.peer_is_up(PeerId(0))) world.hello(3 + number);
  }
  world.now += 10s;
  world.drain();
  return 0;
}
