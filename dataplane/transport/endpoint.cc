#include "dataplane/transport/endpoint.h"

#include <algorithm>
#include <random>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "dataplane/transport/session/session.h"

namespace tictac {

class Endpoint::Impl {
 public:
  Impl(const Config& config, Scheduler& scheduler, EndpointEvents& events)
      : config_(config),
        scheduler_(scheduler),
        jobs_(scheduler),
        host_{config_, scheduler, events, counters_, jobs_} {
    // Half of the space is left for the ids to grow in.
    host_.next_session_id = 1 + std::uniform_int_distribution<uint32_t>(0, 1U << 31)(random_);
  }

  PeerId add_peer(std::string_view name, const Address& address, Time now) {
    const PeerId id(static_cast<uint16_t>(sessions_.size()));
    scheduler_.add_peer(id);
    sessions_.push_back(std::make_unique<Session>(host_, id, std::string(name), address, now));
    by_address_[address] = id;
    return id;
  }

  void on_datagram(Time now, const Address& from, ByteSpan payload) {
    host_.now = now;
    ++counters_.packets_received;
    counters_.bytes_received += payload.size();
    wire::Header header;
    switch (wire::parse_header(payload, &header)) {
      case wire::HeaderResult::kTruncated:
        return drop(DropReason::kTruncated);
      case wire::HeaderResult::kNotOurs:
        return drop(DropReason::kBadMagic);
      case wire::HeaderResult::kOk:
        break;
    }
    if (!wire::checksum_matches(payload)) return drop(DropReason::kBadChecksum);
    const auto found = by_address_.find(from);
    if (found == by_address_.end()) return drop(DropReason::kUnknownPeer);
    session(found->second).on_datagram(now, header, payload.subspan(wire::kHeaderSize));
  }

  std::optional<Datagram> next_datagram(Time now, MutableByteSpan out) {
    host_.now = now;
    for (size_t i = 0; i < sessions_.size(); ++i) {
      if (host_.attention[i] > now) continue;
      Session& session = *sessions_[i];
      session.run_timers(now);
      if (!session.must_send(now)) continue;
      // Acks, probes and hellos do not wait for the bucket; they take data along when it is their peer's
      // turn.
      TransferNode* node = scheduler_.pick(now);
      if (node && node->peer.value() != i) node = nullptr;
      if (const size_t size = session.build(now, out, node)) return Datagram{session.address(), size};
    }
    while (TransferNode* node = scheduler_.pick(now)) {
      Session& chosen = session(node->peer);
      if (const size_t size = chosen.build(now, out, node)) return Datagram{chosen.address(), size};
      if (node->ready()) chosen.block();
    }
    return std::nullopt;
  }

  Time next_deadline(Time now) const {
    Time next = scheduler_.next_send_time(now);
    for (const Time attention : host_.attention) next = std::min(next, std::max(attention, now));
    return next;
  }

  void at(Time now) { host_.now = now; }
  Session& session(PeerId peer) { return *sessions_[peer.value()]; }
  Session* session_or_null(PeerId peer) {
    return peer.value() < sessions_.size() ? sessions_[peer.value()].get() : nullptr;
  }
  std::vector<std::unique_ptr<Session>>& sessions() { return sessions_; }
  JobTable& jobs() { return jobs_; }
  Scheduler& scheduler() { return scheduler_; }
  const TransportCounters& counters() const { return counters_; }

 private:
  void drop(DropReason reason) { ++counters_.drops[static_cast<size_t>(reason)]; }

  const Config config_;
  Scheduler& scheduler_;
  TransportCounters counters_;
  JobTable jobs_;
  std::mt19937_64 random_{config_.seed ^ config_.incarnation};
  SessionHost host_;
  std::vector<std::unique_ptr<Session>> sessions_;
  absl::flat_hash_map<Address, PeerId> by_address_;
};

Endpoint::Endpoint(const Config& config, Scheduler& scheduler, EndpointEvents& events)
    : impl_(std::make_unique<Impl>(config, scheduler, events)) {}
Endpoint::~Endpoint() = default;

PeerId Endpoint::add_peer(std::string_view name, const Address& address, Time now) {
  return impl_->add_peer(name, address, now);
}

std::optional<JobId> Endpoint::job_id(std::string_view name) { return impl_->jobs().find_or_add(name); }

void Endpoint::set_job_weight(std::string_view name, uint32_t weight) {
  if (const auto job = impl_->jobs().find_or_add(name)) impl_->scheduler().add_job(*job, weight);
}

void Endpoint::on_datagram(Time now, const Address& from, ByteSpan payload) {
  impl_->on_datagram(now, from, payload);
}

std::optional<Endpoint::Datagram> Endpoint::next_datagram(Time now, MutableByteSpan out) {
  return impl_->next_datagram(now, out);
}

Time Endpoint::next_deadline(Time now) const { return impl_->next_deadline(now); }

StreamRef Endpoint::open(Time now, PeerId peer, const OpenParams& params, TransferSource* request,
                         TransferSink* answer) {
  impl_->at(now);
  Session* session = impl_->session_or_null(peer);
  return session ? session->open(params, request, answer) : StreamRef{};
}

bool Endpoint::answer(Time now, StreamRef stream, TransferSource* source) {
  impl_->at(now);
  Session* session = impl_->session_or_null(stream.peer);
  return session && session->answer(stream, source);
}

void Endpoint::notify(StreamRef stream) {
  if (Session* session = impl_->session_or_null(stream.peer)) session->notify(stream);
}

void Endpoint::rerank(StreamRef stream, Rank rank, ScheduleVersion version) {
  if (Session* session = impl_->session_or_null(stream.peer)) session->rerank(stream, rank, version);
}

void Endpoint::cancel(StreamRef stream, uint32_t code) {
  if (Session* session = impl_->session_or_null(stream.peer)) session->cancel(stream, code);
}

void Endpoint::close() {
  for (const auto& session : impl_->sessions()) session->close();
}

bool Endpoint::peer_is_up(PeerId peer) const {
  const Session* session = impl_->session_or_null(peer);
  return session && session->up();
}

const TransportCounters& Endpoint::counters() const { return impl_->counters(); }

SessionStats Endpoint::session_stats(PeerId peer) const {
  const Session* session = impl_->session_or_null(peer);
  return session ? session->stats() : SessionStats{};
}

}  // namespace tictac
