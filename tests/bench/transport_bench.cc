// Two endpoints back to back in memory on one core: both ends' work for every byte, with checksums and one
// copy out of the source and one into the sink. The rival is what a framework uses today: one TCP connection,
// here over loopback, whose segments are not bound by a wire's MTU and carry no checksum.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "dataplane/transport/endpoint.h"

using namespace tictac;

namespace {

struct MemorySource : TransferSource {
  explicit MemorySource(const std::vector<uint8_t>& b) : bytes(b) {}
  uint64_t available() const override { return bytes.size(); }
  bool finished() const override { return true; }
  void read(uint64_t offset, MutableByteSpan out) override {
    std::memcpy(out.data(), &bytes[offset], out.size());
  }
  void on_acked(uint64_t) override {}
  void on_done(StreamEnd, uint32_t) override {}
  const std::vector<uint8_t>& bytes;
};

struct MemorySink : TransferSink {
  explicit MemorySink(std::vector<uint8_t>& b) : bytes(b) {}
  uint64_t limit() const override { return bytes.size(); }
  void write(uint64_t offset, ByteSpan data) override {
    std::memcpy(&bytes[offset], data.data(), data.size());
  }
  void on_progress(uint64_t) override {}
  void on_done(StreamEnd, uint64_t, uint32_t) override { ++completed; }
  std::vector<uint8_t>& bytes;
  uint64_t completed = 0;
};

struct Side : EndpointEvents {
  Side(const char* name, uint64_t incarnation, size_t max_datagram)
      : endpoint({.name = name, .incarnation = incarnation, .max_datagram = max_datagram}, scheduler, *this) {
  }
  void on_peer_up(PeerId, const PeerUp&) override {}
  void on_peer_down(PeerId, PeerDownReason) override {}
  TransferSink* on_open(StreamRef stream, const OpenParams&) override {
    endpoint.answer(now, stream, source);
    return nullptr;
  }
  void on_abandoned(StreamRef, uint32_t) override {}

  Time now{};
  TransferSource* source = nullptr;
  Scheduler scheduler{{}};
  Endpoint endpoint;
};

// Packets go from one end to the other in bursts of 32, as a port hands them over.
class Back2Back {
 public:
  Back2Back(size_t max_datagram, size_t transfer_size)
      : from_(transfer_size, 0x5a), to_(transfer_size), a_("a", 1, max_datagram), b_("b", 2, max_datagram) {
    b_.source = &source_;
    a_.endpoint.add_peer("b", kB, now_);
    b_.endpoint.add_peer("a", kA, now_);
    while (!a_.endpoint.peer_is_up(PeerId(0))) step();
  }
  // Fetches `count` transfers that are asked for at once.
  void fetch(uint32_t count) {
    const uint64_t end = sink_.completed + count;
    for (uint32_t rank = 0; rank < count; ++rank) {
      a_.endpoint.open(now_, PeerId(0), {.job = "job", .rank = Rank(rank)}, nullptr, &sink_);
    }
    while (sink_.completed < end) step();
  }
  uint64_t packets() const { return a_.endpoint.counters().packets_received; }

 private:
  static constexpr Address kA{1, 1};
  static constexpr Address kB{2, 2};
  static constexpr size_t kBurst = 32;

  void step() {
    now_ += 5us;
    a_.now = b_.now = now_;
    pass(a_, b_, kA);
    pass(b_, a_, kB);
  }
  void pass(Side& from, Side& to, const Address& address) {
    size_t count = 0;
    for (; count < kBurst; ++count) {
      const auto datagram = from.endpoint.next_datagram(now_, frames_[count]);
      if (!datagram) break;
      sizes_[count] = datagram->size;
    }
    for (size_t i = 0; i < count; ++i) {
      to.endpoint.on_datagram(now_, address, ByteSpan(frames_[i]).first(sizes_[i]));
    }
  }

  std::vector<uint8_t> from_;
  std::vector<uint8_t> to_;
  MemorySource source_{from_};
  MemorySink sink_{to_};
  Side a_;
  Side b_;
  Time now_{1s};
  std::array<std::array<uint8_t, 9000>, kBurst> frames_;
  std::array<size_t, kBurst> sizes_;
};

void transfer(benchmark::State& state, size_t max_datagram, size_t size, uint32_t count) {
  auto ends = std::make_unique<Back2Back>(max_datagram, size);
  ends->fetch(count);  // warm
  const uint64_t packets = ends->packets();
  for (auto _ : state) ends->fetch(count);
  const auto bytes = static_cast<double>(state.iterations()) * static_cast<double>(size) * count;
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.counters["Gbit/s"] = benchmark::Counter(bytes * 8e-9, benchmark::Counter::kIsRate);
  state.counters["packets/s"] =
      benchmark::Counter(static_cast<double>(ends->packets() - packets), benchmark::Counter::kIsRate);
}

// A connected pair of TCP sockets: {client, server}.
std::array<int, 2> tcp_pair() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, generic, size) || listen(listener, 1) || getsockname(listener, generic, &size))
    std::abort();
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(client, generic, size)) std::abort();
  const int server = accept(listener, nullptr, nullptr);
  if (server < 0) std::abort();
  close(listener);
  return {client, server};
}

// The server answers `count` requests of 64 bytes with `size` bytes each.
void tcp(benchmark::State& state, size_t size, uint32_t count) {
  const auto [client, server] = tcp_pair();
  const std::vector<uint8_t> source(size, 0x5a);
  std::vector<uint8_t> sink(size);
  std::array<uint8_t, 64> request{};
  for (auto _ : state) {
    for (uint32_t i = 0; i < count; ++i) {
      if (send(client, request.data(), request.size(), 0) < 0) std::abort();
      if (recv(server, request.data(), request.size(), MSG_WAITALL) < 0) std::abort();
      for (size_t sent = 0, received = 0; received < size;) {
        const ssize_t out = sent < size ? send(server, &source[sent], size - sent, MSG_DONTWAIT) : 0;
        if (out > 0) sent += static_cast<size_t>(out);
        const ssize_t in = recv(client, &sink[received], size - received, MSG_DONTWAIT);
        if (in > 0) received += static_cast<size_t>(in);
      }
    }
  }
  close(client);
  close(server);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(size) * count);
}

BENCHMARK_CAPTURE(transfer, large, 1472, 1 << 20, 8)->Name("ours/transfer datagram=1472 size=1MiB");
BENCHMARK_CAPTURE(transfer, jumbo, 8972, 1 << 20, 8)->Name("ours/transfer datagram=8972 size=1MiB");
BENCHMARK_CAPTURE(transfer, small, 1472, 256, 1000)->Name("ours/transfer datagram=1472 size=256B");
BENCHMARK_CAPTURE(tcp, large, 1 << 20, 8)->Name("tcp/transfer datagram=1472 size=1MiB");
BENCHMARK_CAPTURE(tcp, jumbo, 1 << 20, 8)->Name("tcp/transfer datagram=8972 size=1MiB");
BENCHMARK_CAPTURE(tcp, small, 256, 1000)->Name("tcp/transfer datagram=1472 size=256B");

}  // namespace

BENCHMARK_MAIN();
