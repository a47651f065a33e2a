#pragma once

#include <cstdint>

#include "dataplane/base/types.h"
#include "dataplane/transport/endpoint.h"
#include "dataplane/transport/transfer.h"
#include "ps_proxy/client/native_abi.h"
#include "ps_proxy/native/intrusive_list.h"

namespace tictac::native {

class ClientSession;
class NativeJob;
struct NativeName;
class Fetch;
class Request;

// What the transfers tell their owners, from inside of the endpoint: these must not call it back.
class FetchEvents {
 public:
  virtual ~FetchEvents() = default;
  virtual void on_fetch_done(Fetch& fetch, StreamEnd end, uint64_t size, uint32_t code) = 0;
};
class RequestEvents {
 public:
  virtual ~RequestEvents() = default;
  virtual void on_request_done(Request& request, StreamEnd end, uint32_t code) = 0;
};

// A fetch of a client: takes the answer's bytes straight into the client's arena. One for each slot of a
// client, made with it. Stands in its job's list while it is under way.
class Fetch final : public TransferSink, public ListLink {
 public:
  uint64_t limit() const override { return capacity; }
  void write(uint64_t offset, ByteSpan bytes) override;
  void on_progress(uint64_t) override {}
  void on_done(StreamEnd end, uint64_t size, uint32_t code) override {
    events->on_fetch_done(*this, end, size, code);
  }

  bool active() const { return linked(); }

  FetchEvents* events = nullptr;
  ClientSession* client = nullptr;
  NativeName* name = nullptr;
  StreamRef stream;
  uint8_t* buffer = nullptr;
  uint64_t capacity = 0;
  uint32_t slot = 0;
  uint32_t sequence = 0;
  tictac_name_id client_name = kNone;
  Rank rank;
  ScheduleVersion version;
  uint64_t epoch = 0;  // of the job's order that rank and version are from
};

// A request of a peer, from its arrival until its answer is acknowledged or it ends otherwise. Reads the
// answer's bytes straight from the serving client's arena.
class Request final : public TransferSource, public ListLink {
 public:
  enum class State : uint8_t {
    kFree,
    kParked,     // nobody serves the name; in the name's list
    kWaiting,    // for a free request slot of its client; in the client's list
    kDelivered,  // the client knows it
    kAnswering,  // the client's buffer is being sent
  };

  uint64_t available() const override { return size; }
  bool finished() const override { return true; }
  void read(uint64_t offset, MutableByteSpan out) override;
  void on_acked(uint64_t) override {}
  void on_done(StreamEnd end, uint32_t code) override { events->on_request_done(*this, end, code); }

  RequestEvents* events = nullptr;
  State state = State::kFree;
  NativeJob* job = nullptr;
  NativeName* name = nullptr;
  ClientSession* client = nullptr;  // null while parked
  StreamRef stream;
  uint64_t room = 0;  // at the requester
  uint64_t id = 0;    // as the client knows it
  tictac_name_id client_name = kNone;
  const uint8_t* buffer = nullptr;
  uint64_t size = 0;
};

}  // namespace tictac::native
