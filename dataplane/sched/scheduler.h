#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/base/clock.h"
#include "dataplane/base/types.h"
#include "dataplane/base/units.h"
#include "dataplane/sched/index_set.h"
#include "dataplane/sched/rank_queue.h"
#include "dataplane/sched/shaper.h"
#include "dataplane/sched/transfer_list.h"
#include "dataplane/sched/transfer_node.h"

namespace tictac {

// Names the next transfer, as late as possible. Holds transfers that have sendable bytes, never packets.
//
//   token bucket -> control (<= 5 %) -> jobs (DRR by weight) -> peers (DRR) -> strict rank -> FIFO; bulk last
//   (>= 5 %)
//
// Strict rank is a find-first-set tree over 4,096 levels per (job, peer): O(1) insert, removal, pick and
// re-rank. Ranks of two schedule versions are never compared: a (job, peer) drains its older version first
// while a re-rank is on its way. No lock, syscall or clock; allocates only in add_job, add_peer and at the
// first transfer of a job to a peer (and of a second version there). Lcore only.
class Scheduler {
 public:
  struct Config {
    Rate link_rate{0};             // 0: no shaping
    uint64_t burst_bytes = 0;      // bucket depth in frame bytes; 0: chosen from link_rate (see shaper.h)
    uint32_t drr_quantum = 16384;  // payload bytes a job of weight 1, or a peer, may send in one turn
  };
  struct Counters {
    uint64_t picks = 0;
    uint64_t inversions = 0;     // commits while a better rank of the same job, peer and version was ready
    uint64_t shared_levels = 0;  // transfers whose rank was above the last level and shares it
    uint64_t version_mixes = 0;  // transfers that joined a queue of another version (third version at once)
    uint64_t reranks = 0;
  };

  explicit Scheduler(const Config& config);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Peers and jobs are dense from 0; each must be added before a node names it. Weight >= 1. These allocate.
  void add_peer(PeerId peer);
  void add_job(JobId job, uint32_t weight);

  // The transfer has bytes to send / has none (or waits for flow control). Idempotent.
  void set_ready(TransferNode& node);
  void set_idle(TransferNode& node);

  // Gives the transfer another place; keeps its readiness. Goes to the end of its new rank's FIFO.
  void rerank(TransferNode& node, Rank rank, ScheduleVersion version);

  // A blocked peer (congestion window, pacing, not connected) is passed over; its transfers stay queued.
  void set_peer_blocked(PeerId peer, bool blocked);

  // The transfer that should send next, or null when none may (nothing ready, all blocked, or the bucket is
  // empty: then next_send_time() says when). Does not remove it: the owner cuts a packet, then calls commit
  // and, if the transfer ran dry, set_idle.
  TransferNode* pick(Time now);

  // The transfer that should fill the rest of a packet to `peer`; the bucket is not asked. Null when none is
  // ready.
  TransferNode* pick_for(PeerId peer);

  // `node` put `payload_bytes` into the packet being cut. Counts inversions, charges job and peer.
  void commit(const TransferNode& node, uint32_t payload_bytes);

  // A frame of `frame_bytes` (Ethernet header to last byte, without FCS) left at `now`; any packet, also
  // acks.
  void on_frame_sent(uint32_t frame_bytes, Time now);

  // Earliest time at which pick() may return a transfer if nothing else changes: `now` or earlier when it may
  // at once, kNever when nothing is ready and unblocked.
  Time next_send_time(Time now) const;

  const Counters& counters() const { return counters_; }

 private:
  // Ranked transfers of one job to one peer, of at most two schedule versions; the older is served first.
  struct Lane {
    std::array<std::unique_ptr<RankQueue>, 2> queues;
    std::array<ScheduleVersion, 2> versions;
    uint8_t newest = 0;
    int64_t deficit = 0;

    bool empty(uint8_t queue) const { return !queues[queue] || queues[queue]->empty(); }
    bool empty() const { return empty(0) && empty(1); }
    uint8_t older() const { return newest ^ 1; }
    uint8_t serving() const { return empty(older()) ? newest : older(); }
    TransferNode* front() const { return queues[serving()]->front(); }
    // The queue for transfers of `version`; sets `mixed` when it holds another version too.
    uint8_t queue_for(ScheduleVersion version, bool* mixed);
  };
  struct Job {
    std::vector<Lane> lanes;  // by peer
    IndexSet ready_peers;
    size_t current_peer = 0;
    int64_t deficit = 0;
    uint32_t weight = 1;
  };
  // Unranked transfers of one class, by peer, served in turn.
  struct FifoClass {
    std::vector<TransferList> fifos;  // by peer
    IndexSet ready_peers;
    size_t current_peer = 0;
    int64_t credit = 0;  // bytes that its share still allows
  };

  FifoClass& fifo_class(TransferClass c) { return c == TransferClass::kControl ? control_ : bulk_; }
  void enqueue(TransferNode& node);
  void enqueue_ranked(TransferNode& node);
  void dequeue_ranked(TransferNode& node);
  void dequeue(TransferNode& node);
  TransferNode* front_of(FifoClass& fifos);
  TransferNode* front_of_jobs();
  TransferNode* front_of_lanes(Job& job);
  TransferNode* ranked_for(PeerId peer);
  void count_inversion(const TransferNode& node);
  bool anything_sendable() const;

  Shaper shaper_;
  int64_t quantum_;
  IndexSet unblocked_peers_;
  size_t peer_count_ = 0;
  std::vector<std::unique_ptr<Job>> jobs_;
  IndexSet ready_jobs_;
  size_t current_job_ = 0;
  FifoClass control_;
  FifoClass bulk_;
  Counters counters_;
};

}  // namespace tictac
