#include "tests/integration/node/application.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "dataplane/base/byte_reader.h"
#include "dataplane/base/byte_writer.h"

namespace tictac::integration {

class Application::Source : public TransferSource {
 public:
  explicit Source(Application& owner) : owner_(owner) {}
  void start(uint64_t seed, uint64_t size) {
    seed_ = seed;
    size_ = size;
  }
  uint64_t available() const override { return size_; }
  bool finished() const override { return true; }
  void read(uint64_t offset, MutableByteSpan out) override { owner_.pattern_.fill(seed_, offset, out); }
  void on_acked(uint64_t) override {}
  void on_done(StreamEnd, uint32_t) override { owner_.free_sources_.push_back(this); }

 private:
  Application& owner_;
  uint64_t seed_ = 0;
  uint64_t size_ = 0;
};

class Application::Sink : public TransferSink {
 public:
  explicit Sink(Application& owner) : owner_(owner), buffer_(owner.config_.size) {}
  void start(uint64_t asked_seed, Time now) {
    seed = asked_seed;
    started = now;
    written = 0;
    good = true;
  }
  uint64_t limit() const override { return buffer_.size(); }
  void write(uint64_t offset, ByteSpan bytes) override {
    good = good && offset + bytes.size() <= buffer_.size() && owner_.pattern_.equals(seed, offset, bytes);
    if (good) std::memcpy(buffer_.data() + offset, bytes.data(), bytes.size());  // as a gateway would
    written += bytes.size();
  }
  void on_progress(uint64_t) override {}
  void on_done(StreamEnd end, uint64_t size, uint32_t) override { owner_.on_fetched(*this, end, size); }

  uint64_t seed = 0;
  Time started{};
  uint64_t written = 0;
  bool good = true;

 private:
  Application& owner_;
  std::vector<uint8_t> buffer_;
};

Application::Application(const Config& config)
    : config_(config), wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  for (uint32_t i = 0; i < config.parallel; ++i) {
    free_sinks_.push_back(sinks_.emplace_back(std::make_unique<Sink>(*this)).get());
  }
  times_.resize(1 << 20);  // touched now, not in the middle of a measurement
  times_.clear();
}

Application::~Application() { close(wake_fd_); }

void Application::on_peer_up(PeerId, const PeerUp&) {
  up_ = true;
  ups_.store(++stats_.ups, std::memory_order_relaxed);
}

void Application::on_peer_down(PeerId, PeerDownReason) {
  up_ = false;
  ++stats_.downs;
}

TransferSink* Application::on_open(StreamRef stream, const OpenParams& params) {
  ByteReader reader(params.preamble);
  const uint64_t seed = reader.u64();
  const uint64_t size = reader.u64();
  if (free_sources_.empty()) {
    free_sources_.push_back(sources_.emplace_back(std::make_unique<Source>(*this)).get());
  }
  Source* source = free_sources_.back();
  free_sources_.pop_back();
  source->start(seed, size);
  if (!endpoint_->answer(now_, stream, source)) free_sources_.push_back(source);
  return nullptr;
}

size_t Application::poll(Time now) {
  now_ = now;
  size_t n = 0;
  while (up_ && active_ < config_.parallel && now >= next_fetch_ &&
         (config_.count == 0 || stats_.completed + active_ < config_.count)) {
    if (!fetch(now)) break;
    ++n;
    if (config_.interval > Duration{0}) next_fetch_ = now + config_.interval;
  }
  return n;
}

Time Application::next_deadline() const {
  const bool waits = up_ && active_ < config_.parallel && !finished() && config_.interval > Duration{0};
  return waits ? next_fetch_ : kNever;
}

bool Application::fetch(Time now) {
  std::array<uint8_t, 16> preamble;
  ByteWriter writer(preamble);
  const uint64_t seed = next_seed_++;
  writer.u64(seed);
  writer.u64(config_.size);
  Sink* sink = free_sinks_.back();
  sink->start(seed, now);
  const OpenParams params = {.job = "job",
                             .rank = Rank(static_cast<uint32_t>(seed % 100)),
                             .version = ScheduleVersion(1),
                             .preamble = preamble};
  if (!endpoint_->open(now, PeerId(0), params, nullptr, sink)) return false;
  free_sinks_.pop_back();
  ++active_;
  if (stats_.first_open_ns == 0) stats_.first_open_ns = now.time_since_epoch().count();
  return true;
}

void Application::on_fetched(Sink& sink, StreamEnd end, uint64_t size) {
  --active_;
  free_sinks_.push_back(&sink);
  if (end != StreamEnd::kComplete) {
    ++stats_.failed;
    return;
  }
  if (!sink.good || size != config_.size || sink.written != size) ++stats_.mismatches;
  const int64_t now = now_.time_since_epoch().count();
  const int64_t before = std::max(stats_.last_done_ns, stats_.first_open_ns);
  stats_.longest_gap_ns = std::max(stats_.longest_gap_ns, now - before);
  stats_.last_done_ns = now;
  ++stats_.completed;
  stats_.bytes += size;
  if (times_.size() < times_.capacity()) times_.push_back((now_ - sink.started).count());
}

ApplicationStats Application::stats() const {
  ApplicationStats out = stats_;
  if (times_.empty()) return out;
  std::vector<int64_t> sorted = times_;
  std::ranges::sort(sorted);
  out.fetch_min_ns = sorted.front();
  out.fetch_median_ns = sorted[sorted.size() / 2];
  out.fetch_p99_ns = sorted[sorted.size() * 99 / 100];
  out.fetch_max_ns = sorted.back();
  return out;
}

}  // namespace tictac::integration
