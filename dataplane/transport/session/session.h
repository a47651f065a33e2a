#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/address.h"
#include "dataplane/sched/scheduler.h"
#include "dataplane/sched/shaper.h"
#include "dataplane/transport/counters.h"
#include "dataplane/transport/endpoint.h"
#include "dataplane/transport/recovery/rate_controller.h"
#include "dataplane/transport/recovery/received_packets.h"
#include "dataplane/transport/recovery/rtt_estimator.h"
#include "dataplane/transport/recovery/sent_packets.h"
#include "dataplane/transport/session/handshake.h"
#include "dataplane/transport/session/job_table.h"
#include "dataplane/transport/session/late_meter.h"
#include "dataplane/transport/stream/stream_table.h"
#include "dataplane/transport/wire/header.h"

namespace tictac {

// What the sessions of one endpoint share.
struct SessionHost {
  const Endpoint::Config& config;
  Scheduler& scheduler;
  EndpointEvents& events;
  TransportCounters& counters;
  JobTable& jobs;
  uint32_t next_session_id = 1;   // grows; the first is drawn, so that a forged packet must guess it
  Time now{};                     // of the call that is running
  std::vector<Time> attention{};  // by peer: when it has something to do besides what the scheduler names
};

// One peer: its connection, its packets in and out, its streams. Lives as long as the endpoint and connects
// again by itself after every end. Split over files by idea: connection.cc (up, down, timers), packet_out.cc,
// packet_in.cc, control_frames.cc (frames about streams and the session), streams.cc (the application's
// calls).
class Session : public SentPacketsObserver {
 public:
  Session(SessionHost& host, PeerId id, std::string name, const Address& address, Time now);

  const Address& address() const { return address_; }
  bool up() const { return up_; }
  SessionStats stats() const;

  // packet_in.cc. The checksum matched.
  void on_datagram(Time now, const wire::Header& header, ByteSpan payload);

  // packet_out.cc. A HELLO, ack, probe or close that does not wait for the scheduler.
  bool must_send(Time now) const;
  // Nothing was written though the scheduler named this peer, and it would be named again.
  void block() { host_.scheduler.set_peer_blocked(id_, true); }
  // Writes one datagram that begins with `first` (null: no stream data); 0 when there is nothing to say.
  size_t build(Time now, MutableByteSpan out, TransferNode* first);

  // connection.cc
  void run_timers(Time now);
  void close();

  // streams.cc; see Endpoint.
  StreamRef open(const OpenParams& params, TransferSource* request, TransferSink* answer);
  bool answer(StreamRef ref, TransferSource* source);
  void notify(StreamRef ref);
  void rerank(StreamRef ref, Rank rank, ScheduleVersion version);
  void cancel(StreamRef ref, uint32_t code);

 private:
  // The datagram being cut.
  struct Packet {
    ByteWriter out;
    std::array<SentChunk, SentPackets::kMostChunks>& chunks;
    size_t chunk_count = 0;
    wire::Header header;
    Time now;
    bool has_room() const { return chunk_count < chunks.size(); }
    void add(const SentChunk& chunk) { chunks[chunk_count++] = chunk; }
  };
  static constexpr uint64_t kPacingDepth = 64 * 1024;  // bytes that may leave at once
  enum class FrameResult : uint8_t { kOk, kNotNow, kMalformed, kViolation };

  // connection.cc
  void connect(Time now);
  void go_up(Time now);
  void go_down(Time now, PeerDownReason reason);
  void on_hello(Time now, const wire::Header& header, ByteReader& in);
  void update_blocked(Time now);
  uint32_t slack_us() const;
  Time deadline() const;
  // Tells the endpoint when to come back; after anything that may have changed it.
  void rearm() { host_.attention[id_.value()] = must_send(Time::min()) ? Time::min() : deadline(); }

  // packet_out.cc
  size_t build_hello(Time now, MutableByteSpan out);
  void put_ack(Packet& packet);
  void put_session_frames(Packet& packet);
  bool put_transfer(Packet& packet, TransferNode& node);
  bool put_stream(Packet& packet, Stream& stream);
  size_t finish(Packet& packet, MutableByteSpan out);

  // packet_in.cc
  void drop(DropReason reason) { ++host_.counters.drops[static_cast<size_t>(reason)]; }
  FrameResult on_packet(Time now, const wire::Header& header, ByteReader& in);
  FrameResult on_frames(Time now, const wire::Header& header, ByteReader& in);
  FrameResult on_frame(Time now, const wire::Header& header, wire::FrameType type, ByteReader& in);
  FrameResult on_ack(Time now, ByteReader& in);
  FrameResult on_stream(const wire::Header& header, ByteReader& in);
  // What a frame about a stream that is not here means.
  FrameResult on_absent(uint64_t stream_id);
  FrameResult after_receive(Stream& stream, ReceiveHalf::Result result, uint64_t highest_before);

  // control_frames.cc
  bool put_control(Packet& packet);
  bool put_control_of(Packet& packet, Stream& stream);
  bool put_one(Packet& packet, Stream& stream, PendingFrame which);
  void want_control(Stream& stream, uint8_t frames);
  FrameResult on_max_data(ByteReader& in);
  FrameResult on_max_stream_data(ByteReader& in);
  FrameResult on_open(ByteReader& in);
  FrameResult accept(Stream& stream, const wire::OpenFrame& frame);
  FrameResult on_reset(ByteReader& in);
  FrameResult on_stop_sending(ByteReader& in);
  FrameResult on_rerank(const wire::Header& header, ByteReader& in);
  void on_chunks_acked(std::span<const SentChunk> chunks) override;
  void on_chunks_lost(std::span<const SentChunk> chunks) override;

  // streams.cc
  Stream* find(StreamRef ref);
  StreamRef ref_of(const Stream& stream) const { return {id_, stream.slot, stream.generation}; }
  bool is_ours(uint64_t stream_id) const { return (stream_id & 1) == our_bit_; }
  uint64_t session_room() const { return peer_max_data_ - data_sent_; }
  uint32_t now_us() const { return wire::time_us(host_.now); }
  void refresh(Stream& stream);
  void refresh_limits(Stream& stream);
  void release_if_done(Stream& stream);
  void abandon_if_unanswered(Stream& stream, uint32_t code);
  void take_received(uint64_t bytes);

  SessionHost& host_;
  const PeerId id_;
  const std::string name_;
  const Address address_;
  Handshake handshake_;
  bool up_ = false;
  bool close_pending_ = false;
  bool closed_ = false;  // by us, for good
  bool paced_ = false;
  uint64_t our_bit_ = 0;

  RttEstimator rtt_;
  std::optional<ReceivedPackets> received_;
  std::optional<SentPackets> sent_;
  std::optional<RateController> rate_;
  Shaper pacer_;
  Time last_heard_{};
  Time last_sent_{};
  bool ping_pending_ = false;
  uint32_t probe_packets_ = 0;  // may leave beyond the window
  uint32_t probes_in_a_row_ = 0;
  uint64_t least_awaited_told_ = 1;
  uint64_t newest_number_ = 0;     // of the packets received
  uint32_t peer_clock_us_ = 0;     // its send time
  bool packet_is_logged_ = false;  // the packet being read, in late_
  LateMeter late_;
  std::array<SentChunk, SentPackets::kMostChunks> chunks_;  // of the packet being cut

  StreamTable streams_;
  RangeSet peer_opened_;  // sequence numbers of the peer's streams that were opened
  uint64_t next_sequence_ = 0;
  StreamNode control_;  // stands in the scheduler for the list of control frames
  Stream* control_first_ = nullptr;
  Stream* control_last_ = nullptr;

  // Flow control of the session: sums over its streams of the highest offset.
  uint64_t data_sent_ = 0;
  uint64_t peer_max_data_ = 0;
  uint64_t data_received_ = 0;
  uint64_t our_max_data_ = 0;
  bool max_data_pending_ = false;
  bool has_session_blocked_ = false;
};

}  // namespace tictac
