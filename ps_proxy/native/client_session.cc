#include "ps_proxy/native/client_session.h"

#include <sys/socket.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tictac::native {

const char* name_of(ClientFault fault) {
  switch (fault) {
    case ClientFault::kNoFault:
      return "none";
    case ClientFault::kRingIndex:
      return "impossible ring index";
    case ClientFault::kBadEntry:
      return "malformed submission";
    case ClientFault::kBadArena:
      return "buffer outside of the arena";
  }
  return "unknown";
}

ClientSession::ClientSession(uint64_t session_id, std::string job_of, std::string application_name,
                             uint32_t max_operations, Mapping control, Mapping arena, Fd doorbell)
    : id(session_id),
      job_name(std::move(job_of)),
      application(std::move(application_name)),
      max_operations_(max_operations),
      control_(std::move(control)),
      arena_(std::move(arena)),
      doorbell_(std::move(doorbell)),
      fetches_(std::make_unique<Fetch[]>(max_operations)),
      requests_(max_operations),
      free_requests_(max_operations) {
  const ControlLayout layout = ControlLayout::of(max_operations);
  ControlHeader* header = header_of(control_.data());
  submissions = RingReader(&header->submissions, entries_at(control_.data(), layout.submissions_at()),
                           layout.submission_capacity);
  events_ =
      RingWriter(&header->events, entries_at(control_.data(), layout.events_at()), layout.event_capacity);
  std::iota(free_requests_.rbegin(), free_requests_.rend(), 0U);
  pending_.reserve(256);
}

uint8_t* ClientSession::place(uint64_t offset, uint64_t size) const {
  if (offset > arena_.size() || size > arena_.size() - offset) return nullptr;
  return arena_.data() + offset;
}

void ClientSession::take_slot(Request& request) {
  const uint32_t slot = free_requests_.back();
  free_requests_.pop_back();
  RequestSlot& entry = requests_[slot];
  entry.request = &request;
  request.id = (uint64_t{++entry.generation} << 32) | slot;
}

void ClientSession::free_slot(Request& request) {
  const auto slot = static_cast<uint32_t>(request.id);
  requests_[slot].request = nullptr;
  free_requests_.push_back(slot);
}

uint32_t ClientSession::next_request_slot(uint32_t slot) const {
  while (slot < requests_.size() && !requests_[slot].request) ++slot;
  return slot < requests_.size() ? slot : kNone;
}

Request* ClientSession::find_request(uint64_t request_id) {
  const auto slot = static_cast<uint32_t>(request_id);
  if (slot >= requests_.size()) return nullptr;
  const RequestSlot& entry = requests_[slot];
  return entry.generation == request_id >> 32 ? entry.request : nullptr;
}

void ClientSession::flush(uint64_t time_ns) {
  for (; stamped_end_ < pending_.size(); ++stamped_end_) {
    if (pending_[stamped_end_].time_ns == 0) pending_[stamped_end_].time_ns = time_ns;
  }
  if (pending_.empty()) return;
  const size_t count = std::min<size_t>(events_.room(), pending_.size() - pending_begin_);
  for (size_t i = 0; i < count; ++i) events_.push(pending_[pending_begin_ + i]);
  pending_begin_ += count;
  congested_ = pending_begin_ < pending_.size();
  constexpr size_t kMostGap = 4096;
  if (!congested_ || pending_begin_ > kMostGap) {
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(pending_begin_));
    stamped_end_ -= pending_begin_;
    pending_begin_ = 0;
  }
  if (!events_.publish()) return;
  // A full doorbell has been rung. The flag is per call: the client cannot make this block.
  const char ring = 1;
  (void)send(doorbell_.get(), &ring, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  ++doorbells_rung;
}

void ClientSession::set_peer_up(PeerId peer, bool up) {
  if (peer.value() >= kMostPeers) return;
  header_of(control_.data())->peer_up[peer.value()].store(up ? 1 : 0, std::memory_order_release);
}

}  // namespace tictac::native
