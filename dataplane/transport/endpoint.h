#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dataplane/base/address.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/types.h"
#include "dataplane/sched/scheduler.h"
#include "dataplane/transport/counters.h"
#include "dataplane/transport/transfer.h"

namespace tictac {

// Names a stream in this endpoint; stays unique after the stream has gone (a stale one is refused, never
// reused).
struct StreamRef {
  PeerId peer;
  uint32_t slot = 0;
  uint32_t generation = 0;  // 0: no stream
  explicit operator bool() const { return generation != 0; }
  friend constexpr bool operator==(const StreamRef&, const StreamRef&) = default;
};

inline constexpr size_t kMaxPreamble = 1024;
inline constexpr uint64_t kInitialRequestLimit = 64 * 1024;  // of request bytes, known to both ends
// Code of a stream that the other endpoint, not its application, refused: too many job names.
inline constexpr uint32_t kRefusedCode = 0xffffffff;

// What the opener of a stream says first; arrives whole before any byte of the stream.
struct OpenParams {
  std::string_view job;
  Rank rank;                // of the answer, and of the request if that is ranked
  ScheduleVersion version;  // of the schedule that the rank is from
  TransferClass request_class = TransferClass::kControl;
  TransferClass answer_class = TransferClass::kRanked;
  ByteSpan preamble;  // <= kMaxPreamble bytes; meaning belongs to the gateways
};

struct PeerUp {
  std::string_view name;
  uint64_t incarnation = 0;
  size_t max_datagram = 0;  // agreed UDP payload bytes
};

enum class PeerDownReason : uint8_t { kTimeout, kRestarted, kClosed, kProtocolError, kLocalClose };

// What happens in an endpoint; implemented by the gateways' dispatcher. Called from on_datagram and
// next_datagram. From here, and from sources and sinks, open, answer, notify, rerank and cancel may be
// called; nothing else.
class EndpointEvents {
 public:
  virtual ~EndpointEvents() = default;
  virtual void on_peer_up(PeerId peer, const PeerUp& info) = 0;
  // All streams of the peer have had their on_done(kPeerLost) before.
  virtual void on_peer_down(PeerId peer, PeerDownReason reason) = 0;
  // The peer opened a stream. Returns the sink of its request bytes, or null to discard them; the sink's
  // limit() is at least kInitialRequestLimit. `params` is borrowed for the call. answer() or cancel() must
  // follow at some time; the stream lives until both directions are done.
  virtual TransferSink* on_open(StreamRef stream, const OpenParams& params) = 0;
  // An accepted stream ended before answer(): its opener gave up, or the session went down.
  virtual void on_abandoned(StreamRef stream, uint32_t code) = 0;
};

// All sessions of one sidecar: ranked, reliable, bidirectional streams over datagrams (see README.md for the
// wire). Does no I/O and reads no clock: the owner feeds datagrams, asks for datagrams, and comes back at
// next_deadline(). One thread (the lcore). After add_peer and warm-up nothing allocates per packet.
class Endpoint {
 public:
  struct Config {
    std::string name;                    // of this sidecar; peers check it against their configuration
    uint64_t incarnation = 0;            // larger at each start of the process; never 0
    size_t max_datagram = 1472;          // UDP payload bytes that the local device carries
    Duration keep_alive = 200ms;         // a PING after this much silence
    Duration dead_after = 1500ms;        // nothing heard for this long: the peer is down
    uint32_t max_streams = 65536;        // open at once per session and side; the peer's further ones wait
    uint64_t session_window = 64 << 20;  // bytes in flight towards us per session, flow control
    uint64_t seed = 1;                   // for session ids and jitter
  };

  Endpoint(const Config& config, Scheduler& scheduler, EndpointEvents& events);
  ~Endpoint();

  // Before or between polls. The name and address must be unique. Sessions come up by themselves, in either
  // start order, and again after a failure.
  PeerId add_peer(std::string_view name, const Address& address, Time now);
  // Finds or makes the job's number; none when there are already 256, or the name is empty or too long.
  std::optional<JobId> job_id(std::string_view name);
  void set_job_weight(std::string_view name, uint32_t weight);

  // A UDP payload arrived. Never fails: what is wrong with it is counted by reason.
  void on_datagram(Time now, const Address& from, ByteSpan payload);

  struct Datagram {
    Address to;
    size_t size = 0;  // bytes written to `out`
  };
  // Runs due timers, then cuts at most one packet into `out` (>= max_datagram bytes). Nothing when nothing
  // may be sent now. The packet counts as sent: the caller must deliver or lose it, not ask again for the
  // same.
  std::optional<Datagram> next_datagram(Time now, MutableByteSpan out);
  // When to call next_datagram again if nothing arrives and nothing is opened.
  Time next_deadline(Time now) const;

  // Opens a stream to a connected peer. `request` may be null (no request bytes). The ref returned is empty
  // when the peer is not up, we have max_streams open to it, or params are too long.
  StreamRef open(Time now, PeerId peer, const OpenParams& params, TransferSource* request,
                 TransferSink* answer);
  // Acceptor: starts the answer. False when the stream has gone (then the source gets no call).
  bool answer(Time now, StreamRef stream, TransferSource* source);
  // The source's available()/finished() or the sink's limit() changed. Stale refs are ignored.
  void notify(StreamRef stream);
  // Opener: new place for the stream, here and at the peer (RERANK); what is queued there turns round.
  void rerank(StreamRef stream, Rank rank, ScheduleVersion version);
  // Either side: ends both directions now; sources and sinks of this side get on_done before it returns, the
  // peer's soon after with `code`.
  void cancel(StreamRef stream, uint32_t code);

  // Announces the end to all peers (CLOSE) with their next datagram, so that they know at once; then sessions
  // go down with kLocalClose and stay down.
  void close();

  bool peer_is_up(PeerId peer) const;
  const TransportCounters& counters() const;
  SessionStats session_stats(PeerId peer) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tictac
