// Writes a capture of real transfers, interleaved as a queue in order of arrival would carry them: one packet
// of each transfer in turn, the worst rank in front, packets without a stream at the end.
//   relay_capture FILE TRANSFERS BYTES
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <vector>

#include "dataplane/net/headers.h"
#include "dataplane/transport/wire/header.h"
#include "tests/fakes/endpoint_pair.h"

using namespace tictac;

namespace {

using Packets = std::vector<std::vector<uint8_t>>;

struct Zeros : TransferSource {
  explicit Zeros(uint64_t n) : size(n) {}
  uint64_t available() const override { return size; }
  bool finished() const override { return true; }
  void read(uint64_t, MutableByteSpan out) override { std::fill(out.begin(), out.end(), uint8_t{0}); }
  void on_acked(uint64_t) override {}
  void on_done(StreamEnd, uint32_t) override {}
  uint64_t size;
};

struct Hole : TransferSink {
  explicit Hole(uint64_t n) : size(n) {}
  uint64_t limit() const override { return size; }
  void write(uint64_t, ByteSpan) override {}
  void on_progress(uint64_t) override {}
  void on_done(StreamEnd how, uint64_t, uint32_t) override { done = how == StreamEnd::kComplete; }
  uint64_t size;
  bool done = false;
};

// What `b` sends while `a` fetches one transfer after the other, by stream; nothing is sorted yet.
bool record(uint32_t transfers, uint64_t bytes, std::map<uint32_t, Packets>* packets) {
  fakes::EndpointPair pair;
  pair.drop = [&](const Address& from, ByteSpan datagram) {
    wire::Header header;
    if (from != pair.b->address || wire::parse_header(datagram, &header) != wire::HeaderResult::kOk)
      return false;
    (*packets)[header.stream].emplace_back(datagram.begin(), datagram.end());
    return false;
  };
  Zeros source(bytes);
  pair.b->events.on_open_do = [&](StreamRef stream) -> TransferSink* {
    pair.b->endpoint.answer(pair.now, stream, &source);
    return nullptr;
  };
  pair.connect();
  for (uint32_t rank = transfers; rank-- > 0;) {
    Hole sink(bytes);
    pair.a->endpoint.open(pair.now, pair.kPeer, {.job = "job", .rank = Rank(rank)}, nullptr, &sink);
    if (!pair.run_until([&] { return sink.done; })) return false;
  }
  return true;
}

void append(std::ofstream& file, uint32_t value) {  // the writer's byte order: the magic number tells
  file.write(reinterpret_cast<const char*>(&value), sizeof(value));
}

void write_frame(std::ofstream& file, const std::vector<uint8_t>& datagram) {
  std::vector<uint8_t> frame(kUdpPayloadOffset + datagram.size());
  std::copy(datagram.begin(), datagram.end(), frame.begin() + kUdpPayloadOffset);
  write_udp_headers({.source = {0x0a000002, 7471}, .destination = {0x0a000001, 7471}}, datagram.size(),
                    frame);
  for (const uint32_t field :
       {0U, 0U, static_cast<uint32_t>(frame.size()), static_cast<uint32_t>(frame.size())})
    append(file, field);
  file.write(reinterpret_cast<const char*>(frame.data()), static_cast<std::streamsize>(frame.size()));
}

void write_interleaved(std::ofstream& file, const std::map<uint32_t, Packets>& packets) {
  for (const uint32_t field : {0xa1b2c3d4U, 0x00040002U, 0U, 0U, 65535U, 1U}) append(file, field);
  for (size_t i = 0, left = 1; left > 0; ++i) {
    left = 0;
    for (const auto& [stream, list] : packets) {
      if (stream == wire::kNoStream || i >= list.size()) continue;
      write_frame(file, list[i]);
      ++left;
    }
  }
  const auto control = packets.find(wire::kNoStream);
  if (control == packets.end()) return;
  for (const auto& datagram : control->second) write_frame(file, datagram);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: relay_capture FILE TRANSFERS BYTES\n";
    return 2;
  }
  std::map<uint32_t, Packets> packets;
  if (!record(static_cast<uint32_t>(std::atoi(argv[2])), static_cast<uint64_t>(std::atoll(argv[3])),
              &packets)) {
    std::cerr << "relay_capture: a transfer did not end\n";
    return 1;
  }
  std::ofstream file(argv[1], std::ios::binary);
  write_interleaved(file, packets);
  return file.good() ? 0 : 1;
}
