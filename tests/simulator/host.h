#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/transport/endpoint.h"
#include "tests/simulator/simulated_link.h"
#include "tests/simulator/simulation.h"

namespace tictac::simulator {

// Byte `offset` of the transfer with this seed.
uint8_t content_of(uint64_t seed, uint64_t offset);

// A transfer whose bytes follow from its seed.
class PatternSource : public TransferSource {
 public:
  PatternSource(uint64_t seed, uint64_t size) : seed_(seed), size_(size) {}
  uint64_t available() const override { return size_; }
  bool finished() const override { return true; }
  void read(uint64_t offset, MutableByteSpan out) override;
  void on_acked(uint64_t offset) override;
  void on_done(StreamEnd end, uint32_t) override;
  std::optional<StreamEnd> end() const { return end_; }

 private:
  uint64_t seed_;
  uint64_t size_;
  uint64_t acked_ = 0;
  std::optional<StreamEnd> end_;
};

// Checks every byte, that each comes once, and that progress is in order.
class CheckingSink : public TransferSink {
 public:
  CheckingSink(uint64_t seed, uint64_t limit, std::function<void(CheckingSink&)> on_end = {})
      : seed_(seed), limit_(limit), on_end_(std::move(on_end)) {}
  uint64_t limit() const override { return limit_; }
  void set_limit(uint64_t limit) { limit_ = limit; }
  void write(uint64_t offset, ByteSpan bytes) override;
  void on_progress(uint64_t offset) override;
  void on_done(StreamEnd end, uint64_t size, uint32_t code) override;

  std::optional<StreamEnd> end() const { return end_; }
  uint64_t size() const { return size_; }
  uint64_t progress() const { return progress_; }
  uint32_t code() const { return code_; }
  uint64_t seed() const { return seed_; }

 private:
  uint64_t seed_;
  uint64_t limit_;
  std::function<void(CheckingSink&)> on_end_;
  std::vector<bool> written_;
  uint64_t progress_ = 0;
  uint64_t size_ = 0;
  uint32_t code_ = 0;
  std::optional<StreamEnd> end_;
};

// A real Endpoint with its Scheduler on one end of two links, and an application that answers a request for
// (seed, size) with a PatternSource, at once or when told.
class Host : public EndpointEvents {
 public:
  struct Config {
    std::string name;
    Address address;
    uint64_t incarnation = 1;
    size_t max_datagram = 1472;
    Rate link_rate{0};
    uint64_t session_window = 64 << 20;
    uint32_t max_streams = 65536;
  };

  Host(Simulation& simulation, const Config& config);

  void connect(const Host& peer, Link* out);
  // A datagram of `from` arrived.
  void receive(const Address& from, ByteSpan datagram);
  // The process is not scheduled until then; datagrams wait in its ring.
  void stop_until(Time end) { stopped_until_ = end; }

  // Asks the peer for a transfer.
  StreamRef fetch(CheckingSink& sink, uint64_t size, Rank rank, ScheduleVersion version = ScheduleVersion(1),
                  std::string_view job = "job", TransferClass answer_class = TransferClass::kRanked);
  void rerank(StreamRef stream, Rank rank, ScheduleVersion version);
  void cancel(StreamRef stream, uint32_t code);
  void notify(StreamRef stream);
  void close();
  // Answers nothing until released.
  void hold_answers(bool hold);

  bool up() const { return endpoint_->peer_is_up(PeerId(0)); }
  const Endpoint& endpoint() const { return *endpoint_; }
  const Scheduler& scheduler() const { return *scheduler_; }
  const std::vector<PeerDownReason>& downs() const { return downs_; }
  int ups() const { return ups_; }
  int abandoned() const { return abandoned_; }
  size_t unfinished_answers() const;
  const Config& config() const { return config_; }

  void on_peer_up(PeerId, const PeerUp&) override { ++ups_; }
  void on_peer_down(PeerId, PeerDownReason reason) override { downs_.push_back(reason); }
  TransferSink* on_open(StreamRef stream, const OpenParams& params) override;
  void on_abandoned(StreamRef stream, uint32_t code) override;

 private:
  struct Parked {
    StreamRef stream;
    uint64_t seed;
    uint64_t size;
  };
  void answer(const Parked& request);
  void pump();

  Simulation& simulation_;
  Config config_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Endpoint> endpoint_;
  Link* out_ = nullptr;
  std::vector<std::unique_ptr<PatternSource>> answers_;
  std::vector<Parked> parked_;
  bool hold_ = false;
  std::vector<PeerDownReason> downs_;
  int ups_ = 0;
  int abandoned_ = 0;
  Time stopped_until_{};
  Time wake_at_ = kNever;
  std::vector<std::pair<Address, std::vector<uint8_t>>> ring_;
};

}  // namespace tictac::simulator
