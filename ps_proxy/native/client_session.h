#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/base/clock.h"
#include "ps_proxy/client/client_state.h"
#include "ps_proxy/client/native_abi.h"
#include "ps_proxy/native/native_job.h"
#include "ps_proxy/native/transfers.h"

namespace tictac::native {

// Why the gateway gave a client up.
enum class ClientFault : uint8_t {
  kNoFault,
  kRingIndex,  // an index of a ring is impossible
  kBadEntry,   // a submission that the library never makes
  kBadArena,   // a buffer outside of the arena
};
const char* name_of(ClientFault fault);

// One connected application as the lcore sees it: its rings, names, fetches and requests. Made (with all its
// memory touched) and destroyed by the control thread, which lends it to the gateway in between. The memory
// is the client's to scribble over: everything read from it is copied first and checked then.
class ClientSession {
 public:
  struct Name {
    NativeName* name = nullptr;
    bool served = false;
  };

  // `control` and `arena` outlive the session's time at the gateway.
  ClientSession(uint64_t id, std::string job, std::string application, uint32_t max_operations,
                Mapping control, Mapping arena, Fd doorbell);

  const uint64_t id;  // never reused
  const std::string job_name;
  const std::string application;
  NativeJob* job = nullptr;

  RingReader submissions;
  std::vector<Name> names;

  uint32_t max_operations() const { return max_operations_; }
  Fetch* fetch(uint32_t slot) { return slot < max_operations_ ? &fetches_[slot] : nullptr; }

  // Start of [offset, offset + size) in the arena; null when that is not inside.
  uint8_t* place(uint64_t offset, uint64_t size) const;

  // Requests that the client knows. take_slot is for a client with has_free_slot().
  bool has_free_slot() const { return !free_requests_.empty(); }
  void take_slot(Request& request);
  void free_slot(Request& request);
  Request* find_request(uint64_t id);
  Request* request_in(uint32_t slot) { return requests_[slot].request; }
  // First slot from `slot` on with a request; kNone: there is none.
  uint32_t next_request_slot(uint32_t slot) const;
  IntrusiveList<Request> waiting;  // for a free slot

  // Events for the client; never lost: what the ring has no room for waits here, and while anything waits the
  // gateway takes no submissions, which bounds it.
  void push(const tictac_event& event) { pending_.push_back(event); }
  bool congested() const { return congested_; }
  // Shows the client what was pushed, stamped with `time_ns` where an event has no time yet, and wakes it if
  // needed.
  void flush(uint64_t time_ns);
  int doorbell() const { return doorbell_.get(); }
  void set_peer_up(PeerId peer, bool up);

  bool active() const { return fault_ == ClientFault::kNoFault && !detaching; }
  ClientFault fault() const { return fault_; }
  void give_up(ClientFault fault) { fault_ = fault; }
  bool broken() const { return submissions.broken() || events_.broken(); }

  bool detaching = false;
  uint32_t detach_cursor = 0;
  uint64_t doorbells_rung = 0;
  bool fault_reported = false;

 private:
  struct RequestSlot {
    Request* request = nullptr;
    uint32_t generation = 0;
  };

  uint32_t max_operations_;
  Mapping control_;
  Mapping arena_;
  Fd doorbell_;
  RingWriter events_;
  std::vector<tictac_event> pending_;  // events not in the ring yet, from pending_begin_ on
  size_t pending_begin_ = 0;
  size_t stamped_end_ = 0;
  bool congested_ = false;  // the last flush left some
  std::unique_ptr<Fetch[]> fetches_;
  std::vector<RequestSlot> requests_;
  std::vector<uint32_t> free_requests_;
  ClientFault fault_ = ClientFault::kNoFault;
};

}  // namespace tictac::native
