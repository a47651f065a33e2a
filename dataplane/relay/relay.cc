#include "dataplane/relay/relay.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tictac {
namespace {

constexpr uint32_t kNoSlot = std::numeric_limits<uint32_t>::max();
constexpr PeerId kPeer{0};  // a relay knows neither peers nor jobs: one lane for all
constexpr JobId kJob{0};

// Two bytes tell our datagrams from text that happens to begin with a T.
bool claims_to_be_ours(const ParsedFrame& frame) {
  return frame.kind == FrameKind::kUdp && frame.payload.size() >= 2 && frame.payload[0] == wire::kMagic &&
         frame.payload[1] == wire::kVersion;
}

RelayVerdict verdict_on(const ParsedFrame& frame, wire::Header* header) {
  if (frame.kind == FrameKind::kShortFrame) return RelayVerdict::kCut;
  if (frame.kind >= FrameKind::kFirstError) return RelayVerdict::kMalformed;
  if (!claims_to_be_ours(frame)) return RelayVerdict::kForeign;
  switch (wire::parse_header(frame.payload, header)) {
    case wire::HeaderResult::kTruncated:
      return RelayVerdict::kCut;
    case wire::HeaderResult::kNotOurs:
      return RelayVerdict::kMalformed;
    case wire::HeaderResult::kOk:
      break;
  }
  return wire::checksum_matches(frame.payload) ? RelayVerdict::kOurs : RelayVerdict::kMalformed;
}

}  // namespace

const char* name_of(RelayVerdict verdict) {
  switch (verdict) {
    case RelayVerdict::kOurs:
      return "ours";
    case RelayVerdict::kForeign:
      return "foreign";
    case RelayVerdict::kCut:
      return "cut";
    case RelayVerdict::kMalformed:
      return "malformed";
    case RelayVerdict::kOversized:
      return "oversized";
    case RelayVerdict::kCount:
      break;
  }
  return "unknown";
}

RelayDirection::RelayDirection(const Config& config, PacketPort& in, PacketPort& out)
    : config_(config),
      in_(in),
      out_(out),
      scheduler_({.link_rate = config.link_rate}),
      slot_bytes_(out.max_frame()),
      memory_(config.queue * slot_bytes_),
      slots_(config.queue) {
  scheduler_.add_peer(kPeer);
  scheduler_.add_job(kJob, 1);
  for (size_t i = config.queue; i-- > 0;) free_.push_back(static_cast<uint32_t>(i));
  control_.transfer_class = TransferClass::kControl;
  foreign_.transfer_class = TransferClass::kBulk;
}

RelayDirection::~RelayDirection() {
  if (pending_.data) out_.release({&pending_, 1});
}

size_t RelayDirection::poll_once(Time now) { return receive() + transmit(now); }

RelayCounters RelayDirection::counters() const {
  RelayCounters counters = counters_;
  counters.inversions = scheduler_.counters().inversions;
  return counters;
}

size_t RelayDirection::receive() {
  if (free_.size() < kBurst) {
    ++counters_.full;
    return 0;
  }
  std::array<Frame, kBurst> frames;
  const size_t count = in_.receive(frames);
  for (size_t i = 0; i < count; ++i) take(frames[i].bytes());
  in_.release(std::span(frames).first(count));
  counters_.received += count;
  return count;
}

RelayDirection::Judged RelayDirection::judge(ByteSpan frame) const {
  Judged judged{.verdict = RelayVerdict::kOversized, .header = {}};
  if (frame.size() > slot_bytes_) return judged;
  const ParsedFrame parsed = parse_frame(frame);
  judged.verdict = verdict_on(parsed, &judged.header);
  judged.is_arp = parsed.ether_type == kEtherTypeArp;
  return judged;
}

void RelayDirection::take(ByteSpan frame) {
  const Judged judged = judge(frame);
  const RelayVerdict verdict = judged.verdict;
  const bool broken = verdict == RelayVerdict::kCut || verdict == RelayVerdict::kMalformed;
  const bool pass = verdict == RelayVerdict::kOurs ||
                    (verdict == RelayVerdict::kForeign && config_.pass_foreign) ||
                    (broken && config_.pass_malformed);
  if (!pass) {
    ++counters_.drops[static_cast<size_t>(verdict)];
    return;
  }
  ++(verdict == RelayVerdict::kOurs ? counters_.ours : counters_.passed);
  enqueue(flow_of(judged), frame);
}

RelayDirection::Flow& RelayDirection::flow_of(const Judged& judged) {
  if (judged.verdict != RelayVerdict::kOurs) return judged.is_arp ? control_ : foreign_;
  const wire::Header& header = judged.header;
  if (header.stream == wire::kNoStream || header.transfer_class == TransferClass::kControl) return control_;
  if (header.transfer_class == TransferClass::kBulk) return foreign_;
  const uint64_t key = uint64_t{header.session} << 32 | header.stream;
  auto& flow = flows_[key];
  if (!flow && !spare_flows_.empty()) {
    flow = std::move(spare_flows_.back());
    spare_flows_.pop_back();
  }
  if (!flow) flow = std::make_unique<Flow>();
  flow->key = key;
  const Rank rank(std::min<uint32_t>(header.rank, RankQueue::kLevels - 1));
  if (rank != flow->rank) scheduler_.rerank(*flow, rank, ScheduleVersion(0));
  return *flow;
}

void RelayDirection::enqueue(Flow& flow, ByteSpan frame) {
  const uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot] = {.next = kNoSlot, .size = static_cast<uint32_t>(frame.size())};
  std::memcpy(bytes_of(slot), frame.data(), frame.size());
  (flow.count == 0 ? flow.head : slots_[flow.tail].next) = slot;
  flow.tail = slot;
  ++flow.count;
  ++queued_;
  scheduler_.set_ready(flow);
}

size_t RelayDirection::transmit(Time now) {
  if (!flush()) return 0;
  size_t sent = 0;
  while (sent < kBurst) {
    TransferNode* node = scheduler_.pick(now);
    if (!node || !send_one(now, static_cast<Flow&>(*node))) break;
    ++sent;
  }
  return sent;
}

// False when the port has no frame, or did not take it (it is kept and offered again).
bool RelayDirection::send_one(Time now, Flow& flow) {
  Frame frame;
  if (out_.allocate({&frame, 1}) == 0) return false;
  const uint32_t slot = flow.head;
  frame.size = slots_[slot].size;
  std::memcpy(frame.data, bytes_of(slot), frame.size);
  scheduler_.commit(flow, frame.size);
  scheduler_.on_frame_sent(frame.size, now);
  flow.head = slots_[slot].next;
  --flow.count;
  --queued_;
  free_.push_back(slot);
  if (flow.count == 0) retire(flow);
  pending_ = frame;
  return flush();
}

bool RelayDirection::flush() {
  if (!pending_.data) return true;
  const uint32_t size = pending_.size;
  if (out_.send({&pending_, 1}) == 0) return false;
  pending_ = {};
  ++counters_.sent;
  counters_.bytes_sent += size;
  return true;
}

void RelayDirection::retire(Flow& flow) {
  scheduler_.set_idle(flow);
  const auto found = flows_.find(flow.key);
  if (found == flows_.end() || found->second.get() != &flow) return;
  spare_flows_.push_back(std::move(found->second));
  flows_.erase(found);
}

}  // namespace tictac
