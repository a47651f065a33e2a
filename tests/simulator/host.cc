#include "tests/simulator/host.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "dataplane/base/byte_reader.h"
#include "dataplane/base/byte_writer.h"

namespace tictac::simulator {

uint8_t content_of(uint64_t seed, uint64_t offset) {
  return static_cast<uint8_t>((seed * 0x9e3779b97f4a7c15ULL + offset * 0xbf58476d1ce4e5b9ULL) >> 56);
}

void PatternSource::read(uint64_t offset, MutableByteSpan out) {
  EXPECT_GE(offset, acked_) << "acknowledged bytes are read again";
  EXPECT_LE(offset + out.size(), size_);
  EXPECT_FALSE(end_);
  for (size_t i = 0; i < out.size(); ++i) out[i] = content_of(seed_, offset + i);
}

void PatternSource::on_acked(uint64_t offset) {
  EXPECT_GT(offset, acked_);
  acked_ = offset;
}

void PatternSource::on_done(StreamEnd end, uint32_t) {
  EXPECT_FALSE(end_) << "done twice";
  EXPECT_TRUE(end != StreamEnd::kComplete || acked_ == size_);
  end_ = end;
}

void CheckingSink::write(uint64_t offset, ByteSpan bytes) {
  EXPECT_FALSE(end_);
  EXPECT_LE(offset + bytes.size(), limit_);
  if (written_.size() < offset + bytes.size()) written_.resize(offset + bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_FALSE(written_[offset + i]) << "byte " << offset + i << " of " << seed_ << " came twice";
    written_[offset + i] = true;
    ASSERT_EQ(bytes[i], content_of(seed_, offset + i)) << "byte " << offset + i << " of " << seed_;
  }
}

void CheckingSink::on_progress(uint64_t offset) {
  EXPECT_GT(offset, progress_);
  EXPECT_TRUE(std::all_of(written_.begin() + static_cast<ptrdiff_t>(progress_),
                          written_.begin() + static_cast<ptrdiff_t>(offset), [](bool b) { return b; }));
  progress_ = offset;
}

void CheckingSink::on_done(StreamEnd end, uint64_t size, uint32_t code) {
  EXPECT_FALSE(end_) << "done twice";
  EXPECT_TRUE(end != StreamEnd::kComplete || progress_ == size);
  end_ = end;
  size_ = size;
  code_ = code;
  if (on_end_) on_end_(*this);
}

Host::Host(Simulation& simulation, const Config& config) : simulation_(simulation), config_(config) {
  scheduler_ = std::make_unique<Scheduler>(Scheduler::Config{.link_rate = config.link_rate});
  endpoint_ = std::make_unique<Endpoint>(Endpoint::Config{.name = config.name,
                                                          .incarnation = config.incarnation,
                                                          .max_datagram = config.max_datagram,
                                                          .max_streams = config.max_streams,
                                                          .session_window = config.session_window},
                                         *scheduler_, *this);
}

void Host::connect(const Host& peer, Link* out) {
  out_ = out;
  endpoint_->add_peer(peer.config_.name, peer.config_.address, simulation_.now());
  pump();
}

void Host::receive(const Address& from, ByteSpan datagram) {
  if (simulation_.now() < stopped_until_) {
    constexpr size_t kRing = 1024;
    if (ring_.size() < kRing)
      ring_.emplace_back(from, std::vector<uint8_t>(datagram.begin(), datagram.end()));
    return pump();
  }
  endpoint_->on_datagram(simulation_.now(), from, datagram);
  pump();
}

void Host::pump() {
  const Time now = simulation_.now();
  Time next = stopped_until_;
  if (now >= stopped_until_) {
    for (const auto& [from, datagram] : std::exchange(ring_, {})) endpoint_->on_datagram(now, from, datagram);
    std::array<uint8_t, 9000> buffer{};
    while (const auto datagram = endpoint_->next_datagram(now, buffer)) {
      out_->send(ByteSpan(buffer).first(datagram->size));
    }
    next = endpoint_->next_deadline(now);
    EXPECT_GT(next, now) << "the endpoint wants to send and does not";
  }
  if (next == kNever || (wake_at_ > now && wake_at_ <= next)) return;
  wake_at_ = next;
  simulation_.at(next, [this, next] {
    if (wake_at_ != next) return;
    wake_at_ = kNever;
    pump();
  });
}

StreamRef Host::fetch(CheckingSink& sink, uint64_t size, Rank rank, ScheduleVersion version,
                      std::string_view job, TransferClass answer_class) {
  std::array<uint8_t, 16> preamble{};
  ByteWriter writer(preamble);
  writer.u64(sink.seed());
  writer.u64(size);
  const StreamRef stream = endpoint_->open(simulation_.now(), PeerId(0),
                                           {.job = job,
                                            .rank = rank,
                                            .version = version,
                                            .request_class = TransferClass::kControl,
                                            .answer_class = answer_class,
                                            .preamble = preamble},
                                           nullptr, &sink);
  simulation_.after(0ns, [this] { pump(); });
  return stream;
}

TransferSink* Host::on_open(StreamRef stream, const OpenParams& params) {
  ByteReader reader(params.preamble);
  const uint64_t seed = reader.u64();
  parked_.push_back({stream, seed, reader.u64()});
  if (!hold_) simulation_.after(0ns, [this] { hold_answers(false); });
  return nullptr;
}

void Host::on_abandoned(StreamRef stream, uint32_t) {
  ++abandoned_;
  std::erase_if(parked_, [&](const Parked& p) { return p.stream == stream; });
}

void Host::hold_answers(bool hold) {
  hold_ = hold;
  if (hold) return;
  for (const Parked& request : std::exchange(parked_, {})) answer(request);
  pump();
}

void Host::answer(const Parked& request) {
  auto source = std::make_unique<PatternSource>(request.seed, request.size);
  if (endpoint_->answer(simulation_.now(), request.stream, source.get()))
    answers_.push_back(std::move(source));
}

size_t Host::unfinished_answers() const {
  return static_cast<size_t>(
      std::count_if(answers_.begin(), answers_.end(), [](const auto& a) { return !a->end(); }));
}

void Host::rerank(StreamRef stream, Rank rank, ScheduleVersion version) {
  endpoint_->rerank(stream, rank, version);
  simulation_.after(0ns, [this] { pump(); });
}

void Host::cancel(StreamRef stream, uint32_t code) {
  endpoint_->cancel(stream, code);
  simulation_.after(0ns, [this] { pump(); });
}

void Host::notify(StreamRef stream) {
  endpoint_->notify(stream);
  pump();
}

void Host::close() {
  endpoint_->close();
  pump();
}

}  // namespace tictac::simulator
