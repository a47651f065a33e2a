#include "dataplane/sched/scheduler.h"

#include <algorithm>

namespace tictac {
namespace {

// Shares of control and bulk under contention: one byte for every nineteen of the others, 5 %.
constexpr int64_t kOthersPerByte = 19;
constexpr int64_t kMostControlCredit = 64 * 1024;  // a burst of requests at the start of a step
constexpr int64_t kMostBulkCredit = 16 * 1024;
constexpr int64_t kBulkTurn = 1500;  // bulk is served once its share has grown to about a packet

// Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995) in its surplus form: who is served may overdraw
// by one packet and pays it back in its next turn, so that nothing must be known of a packet before it is
// cut. Returns the member of `ready` whose turn it is, kNone if none is eligible. `current` goes on while it
// has a deficit left.
template <typename Eligible, typename Deficit, typename Quantum>
size_t whose_turn(const IndexSet& ready, size_t count, size_t current, Eligible eligible, Deficit deficit,
                  Quantum quantum) {
  if (ready.contains(current) && eligible(current) && deficit(current) > 0) return current;
  size_t index = ready.next(current + 1);
  size_t debtor = IndexSet::kNone;  // all eligible ones may be deep in debt (pick_for): then the next one
  for (size_t visited = 0; index != IndexSet::kNone && visited < count; ++visited) {
    if (eligible(index)) {
      deficit(index) = std::min(deficit(index) + quantum(index), quantum(index));
      if (deficit(index) > 0) return index;
      if (debtor == IndexSet::kNone) debtor = index;
    }
    index = ready.next(index + 1);
  }
  return debtor;
}

}  // namespace

Scheduler::Scheduler(const Config& config) : quantum_(std::max<uint32_t>(config.drr_quantum, 1)) {
  shaper_.configure(config.link_rate, config.burst_bytes);
  control_.credit = kMostControlCredit;
}

void Scheduler::add_peer(PeerId peer) {
  peer_count_ = std::max<size_t>(peer_count_, peer.value() + size_t{1});
  unblocked_peers_.resize(peer_count_);
  unblocked_peers_.insert(peer.value());
  for (FifoClass* fifos : {&control_, &bulk_}) {
    fifos->fifos.resize(peer_count_);
    fifos->ready_peers.resize(peer_count_);
  }
  for (const auto& job : jobs_) {
    if (!job) continue;
    job->lanes.resize(peer_count_);
    job->ready_peers.resize(peer_count_);
  }
}

void Scheduler::add_job(JobId job, uint32_t weight) {
  if (jobs_.size() <= job.value()) {
    jobs_.resize(job.value() + size_t{1});
    ready_jobs_.resize(jobs_.size());
  }
  auto& slot = jobs_[job.value()];
  if (!slot) {
    slot = std::make_unique<Job>();
    slot->lanes.resize(peer_count_);
    slot->ready_peers.resize(peer_count_);
  }
  slot->weight = std::max<uint32_t>(weight, 1);
}

void Scheduler::set_ready(TransferNode& node) {
  if (!node.queued) enqueue(node);
}

void Scheduler::set_idle(TransferNode& node) {
  if (node.queued) dequeue(node);
}

void Scheduler::rerank(TransferNode& node, Rank rank, ScheduleVersion version) {
  const bool was_queued = node.queued;
  if (was_queued) dequeue(node);
  node.rank = rank;
  node.version = version;
  if (was_queued) enqueue(node);
  ++counters_.reranks;
}

void Scheduler::set_peer_blocked(PeerId peer, bool blocked) {
  if (blocked) {
    unblocked_peers_.erase(peer.value());
  } else {
    unblocked_peers_.insert(peer.value());
  }
}

void Scheduler::enqueue(TransferNode& node) {
  node.queued = true;
  if (node.transfer_class == TransferClass::kRanked) return enqueue_ranked(node);
  FifoClass& fifos = fifo_class(node.transfer_class);
  fifos.fifos[node.peer.value()].push_back(node);
  fifos.ready_peers.insert(node.peer.value());
}

uint8_t Scheduler::Lane::queue_for(ScheduleVersion version, bool* mixed) {
  *mixed = false;
  if (version == versions[newest]) return newest;
  if (version == versions[older()] && !empty(older())) return older();
  if (empty(newest) && (version > versions[newest] || empty(older()))) {
    versions[newest] = version;
    return newest;
  }
  if (empty(older())) {
    if (version > versions[newest]) newest = older();
    const uint8_t free_queue = version > versions[older()] ? newest : older();
    versions[free_queue] = version;
    return free_queue;
  }
  *mixed = true;
  return version > versions[newest] ? newest : older();
}

void Scheduler::enqueue_ranked(TransferNode& node) {
  Job& job = *jobs_[node.job.value()];
  Lane& lane = job.lanes[node.peer.value()];
  bool mixed = false;
  node.queue = lane.queue_for(node.version, &mixed);
  counters_.version_mixes += mixed;
  counters_.shared_levels += node.rank.value() >= RankQueue::kLevels;
  node.level = static_cast<uint16_t>(std::min(node.rank.value(), RankQueue::kLevels - 1));
  auto& queue = lane.queues[node.queue];
  if (!queue) queue = std::make_unique<RankQueue>();
  queue->push_back(node);
  job.ready_peers.insert(node.peer.value());
  ready_jobs_.insert(node.job.value());
}

void Scheduler::dequeue(TransferNode& node) {
  node.queued = false;
  if (node.transfer_class == TransferClass::kRanked) return dequeue_ranked(node);
  FifoClass& fifos = fifo_class(node.transfer_class);
  TransferList& fifo = fifos.fifos[node.peer.value()];
  fifo.remove(node);
  if (fifo.empty()) fifos.ready_peers.erase(node.peer.value());
}

void Scheduler::dequeue_ranked(TransferNode& node) {
  Job& job = *jobs_[node.job.value()];
  Lane& lane = job.lanes[node.peer.value()];
  lane.queues[node.queue]->remove(node);
  if (!lane.empty()) return;
  lane.deficit = 0;
  job.ready_peers.erase(node.peer.value());
  if (job.ready_peers.next(0) != IndexSet::kNone) return;
  job.deficit = 0;
  ready_jobs_.erase(node.job.value());
}

TransferNode* Scheduler::pick(Time now) {
  if (!shaper_.may_send(now)) return nullptr;
  ++counters_.picks;
  TransferNode* control = front_of(control_);
  if (control && control_.credit > 0) return control;
  TransferNode* bulk = front_of(bulk_);
  if (bulk && bulk_.credit >= kBulkTurn) return bulk;
  if (TransferNode* ranked = front_of_jobs()) return ranked;
  return control ? control : bulk;
}

TransferNode* Scheduler::front_of(FifoClass& fifos) {
  const size_t peer = fifos.ready_peers.next_common(unblocked_peers_, fifos.current_peer);
  if (peer == IndexSet::kNone) return nullptr;
  fifos.current_peer = peer;
  return fifos.fifos[peer].head;
}

TransferNode* Scheduler::front_of_jobs() {
  current_job_ = whose_turn(
      ready_jobs_, jobs_.size(), current_job_,
      [this](size_t job) {
        return jobs_[job]->ready_peers.next_common(unblocked_peers_, 0) != IndexSet::kNone;
      },
      [this](size_t job) -> int64_t& { return jobs_[job]->deficit; },
      [this](size_t job) { return quantum_ * jobs_[job]->weight; });
  return current_job_ == IndexSet::kNone ? (current_job_ = 0, nullptr) : front_of_lanes(*jobs_[current_job_]);
}

TransferNode* Scheduler::front_of_lanes(Job& job) {
  job.current_peer = whose_turn(
      job.ready_peers, peer_count_, job.current_peer,
      [this](size_t peer) { return unblocked_peers_.contains(peer); },
      [&job](size_t peer) -> int64_t& { return job.lanes[peer].deficit; },
      [this](size_t) { return quantum_; });
  return job.lanes[job.current_peer].front();
}

TransferNode* Scheduler::pick_for(PeerId peer) {
  const size_t p = peer.value();
  if (control_.fifos[p].head && control_.credit > 0) return control_.fifos[p].head;
  if (TransferNode* ranked = ranked_for(peer)) return ranked;
  return control_.fifos[p].head ? control_.fifos[p].head : bulk_.fifos[p].head;
}

TransferNode* Scheduler::ranked_for(PeerId peer) {
  size_t index = ready_jobs_.next(current_job_);
  for (size_t visited = 0; index != IndexSet::kNone && visited < jobs_.size(); ++visited) {
    if (jobs_[index]->ready_peers.contains(peer.value())) return jobs_[index]->lanes[peer.value()].front();
    index = ready_jobs_.next(index + 1);
  }
  return nullptr;
}

void Scheduler::commit(const TransferNode& node, uint32_t payload_bytes) {
  count_inversion(node);
  const int64_t bytes = payload_bytes;
  const bool is_control = node.transfer_class == TransferClass::kControl;
  const bool is_bulk = node.transfer_class == TransferClass::kBulk;
  if (is_control) {
    control_.credit -= bytes;
  } else {
    control_.credit =
        std::min(control_.credit + std::max<int64_t>(bytes / kOthersPerByte, 1), kMostControlCredit);
  }
  if (is_bulk) {
    bulk_.credit = std::max<int64_t>(bulk_.credit - bytes, 0);
  } else if (bulk_.ready_peers.next(0) != IndexSet::kNone) {
    bulk_.credit = std::min(bulk_.credit + std::max<int64_t>(bytes / kOthersPerByte, 1), kMostBulkCredit);
  }
  if (is_control || is_bulk) {
    ++fifo_class(node.transfer_class).current_peer;  // the next peer's turn
  } else {
    Job& job = *jobs_[node.job.value()];
    job.deficit -= bytes;
    job.lanes[node.peer.value()].deficit -= bytes;
  }
}

void Scheduler::count_inversion(const TransferNode& node) {
  if (node.transfer_class != TransferClass::kRanked) return;
  const Lane& lane = jobs_[node.job.value()]->lanes[node.peer.value()];
  counters_.inversions += !lane.empty(node.queue) && lane.queues[node.queue]->best_level() < node.level;
}

void Scheduler::on_frame_sent(uint32_t frame_bytes, Time now) { shaper_.on_sent(frame_bytes, now); }

bool Scheduler::anything_sendable() const {
  const auto waits = [this](const IndexSet& peers) {
    return peers.next_common(unblocked_peers_, 0) != IndexSet::kNone;
  };
  if (waits(control_.ready_peers) || waits(bulk_.ready_peers)) return true;
  size_t index = ready_jobs_.next(0);
  for (size_t visited = 0; index != IndexSet::kNone && visited < jobs_.size(); ++visited) {
    if (waits(jobs_[index]->ready_peers)) return true;
    index = ready_jobs_.next(index + 1);
  }
  return false;
}

Time Scheduler::next_send_time(Time now) const {
  if (!anything_sendable()) return kNever;
  return shaper_.may_send(now) ? now : shaper_.ready_at();
}

}  // namespace tictac
