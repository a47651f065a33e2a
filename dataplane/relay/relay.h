#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "dataplane/base/clock.h"
#include "dataplane/net/headers.h"
#include "dataplane/port/packet_port.h"
#include "dataplane/sched/scheduler.h"
#include "dataplane/transport/wire/header.h"

namespace tictac {

// What a relay thinks of a frame.
enum class RelayVerdict : uint8_t {
  kOurs,       // a whole datagram of ours: ordered by rank
  kForeign,    // anything else that is well-formed
  kCut,        // ends early
  kMalformed,  // impossible headers, wrong checksums, ours but broken
  kOversized,  // larger than the other port carries
  kCount
};

struct RelayCounters {
  uint64_t received = 0;
  uint64_t sent = 0;
  uint64_t bytes_sent = 0;
  uint64_t ours = 0;
  uint64_t passed = 0;  // not ours, passed on as configured
  std::array<uint64_t, static_cast<size_t>(RelayVerdict::kCount)> drops{};  // by verdict
  uint64_t full = 0;  // times that input waited for room
  uint64_t inversions = 0;
};

// One direction: frames of `in` leave at `out`, ours by the rank in their clear header, control first, at
// link_rate. Frames of one transfer keep their order; a frame with another rank moves its whole transfer.
// When the queue is full the input waits, so nothing is lost here. No clock, no allocation after warm-up. One
// thread.
class RelayDirection {
 public:
  struct Config {
    Rate link_rate{0};    // 0: no shaping
    size_t queue = 4096;  // frames
    bool pass_foreign = true;
    bool pass_malformed = false;  // cut and malformed ones
  };

  RelayDirection(const Config& config, PacketPort& in, PacketPort& out);
  ~RelayDirection();

  // Takes a burst in, sends what may leave; returns how many frames it handled.
  size_t poll_once(Time now);
  bool empty() const { return queued_ == 0 && !pending_.data; }
  // When poll_once has something to send if nothing arrives.
  Time next_deadline(Time now) const { return scheduler_.next_send_time(now); }
  RelayCounters counters() const;

 private:
  static constexpr size_t kBurst = 32;
  struct Slot {
    uint32_t next = 0;
    uint32_t size = 0;
  };
  // The frames of one transfer (or of control, or of foreign ones) that wait.
  struct Flow : TransferNode {
    uint64_t key = 0;
    uint32_t head = 0;
    uint32_t tail = 0;
    size_t count = 0;
  };

  size_t receive();
  size_t transmit(Time now);
  bool send_one(Time now, Flow& flow);
  bool flush();
  struct Judged {
    RelayVerdict verdict;
    bool is_arp = false;
    wire::Header header;  // of ours
  };
  Judged judge(ByteSpan frame) const;
  void take(ByteSpan frame);
  Flow& flow_of(const Judged& judged);
  void enqueue(Flow& flow, ByteSpan frame);
  void retire(Flow& flow);
  uint8_t* bytes_of(uint32_t slot) { return memory_.data() + size_t{slot} * slot_bytes_; }

  const Config config_;
  PacketPort& in_;
  PacketPort& out_;
  Scheduler scheduler_;
  const size_t slot_bytes_;
  std::vector<uint8_t> memory_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  size_t queued_ = 0;
  Flow control_;
  Flow foreign_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Flow>> flows_;  // by session and stream
  std::vector<std::unique_ptr<Flow>> spare_flows_;
  Frame pending_;  // cut but refused by the port
  RelayCounters counters_;
};

// Both directions between two ports.
class Relay {
 public:
  Relay(const RelayDirection::Config& config, PacketPort& a, PacketPort& b)
      : forth_(config, a, b), back_(config, b, a) {}

  size_t poll_once(Time now) { return forth_.poll_once(now) + back_.poll_once(now); }
  bool empty() const { return forth_.empty() && back_.empty(); }
  Time next_deadline(Time now) const { return std::min(forth_.next_deadline(now), back_.next_deadline(now)); }
  const RelayDirection& forth() const { return forth_; }
  const RelayDirection& back() const { return back_; }

 private:
  RelayDirection forth_;
  RelayDirection back_;
};

const char* name_of(RelayVerdict verdict);

}  // namespace tictac
