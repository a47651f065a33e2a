#include <algorithm>

#include "dataplane/transport/session/session.h"

namespace tictac {
namespace {

constexpr size_t kAckRoom = 1200;                 // ranges beyond it wait for the next ack
constexpr size_t kLeastStreamRoom = 64;           // a stream frame smaller than this is not worth its header
constexpr uint64_t kLeastAwaitedEvery = 256;      // packets
constexpr uint32_t kFrameOverhead = 14 + 20 + 8;  // Ethernet, IPv4, UDP

}  // namespace

// Asked with the least time: whether anything is to be sent whatever the time is.
bool Session::must_send(Time now) const {
  if (handshake_.hello_due() <= now) return !closed_ || up_;
  return up_ && (received_->ack_due_at() <= now || ping_pending_ || close_pending_ || max_data_pending_);
}

size_t Session::build(Time now, MutableByteSpan out, TransferNode* first) {
  if (handshake_.hello_due() <= now) return build_hello(now, out);
  if (!up_) return 0;
  const size_t most = std::min<size_t>(out.size(), handshake_.max_datagram());
  const MutableByteSpan body = out.first(most).subspan(wire::kHeaderSize);
  Packet packet{.out = ByteWriter(body), .chunks = chunks_, .chunk_count = 0, .header = {}, .now = now};
  put_ack(packet);
  put_session_frames(packet);
  for (TransferNode* node = first; node && packet.has_room(); node = host_.scheduler.pick_for(id_)) {
    if (!put_transfer(packet, *node)) break;
  }
  if (packet.out.size() == 0) return 0;
  return finish(packet, out);
}

size_t Session::build_hello(Time now, MutableByteSpan out) {
  ByteWriter writer(out.subspan(wire::kHeaderSize));
  wire::write(writer, handshake_.make_hello());
  const size_t size = wire::kHeaderSize + writer.size();
  wire::seal(
      out.first(size),
      {.flags = wire::kHello, .session = handshake_.peer_session(), .send_time_us = wire::time_us(now)});
  handshake_.on_hello_sent(now);
  last_sent_ = now;
  ++host_.counters.packets_sent;
  host_.counters.bytes_sent += size;
  host_.scheduler.on_frame_sent(static_cast<uint32_t>(size) + kFrameOverhead, now);
  rearm();
  return size;
}

void Session::put_ack(Packet& packet) {
  if (!received_->ack_owed()) return;
  const auto delay_us = static_cast<uint32_t>(received_->delay_of_largest(packet.now) / 1us);
  const size_t room = std::min(packet.out.remaining(), kAckRoom);
  if (wire::AckFrame::write(packet.out, room, delay_us, ReceivedPackets::Ranges(*received_)))
    received_->on_ack_sent();
}

void Session::put_session_frames(Packet& packet) {
  if (sent_->least_awaited() >= least_awaited_told_ + kLeastAwaitedEvery) {
    if (wire::write(packet.out, wire::LeastAwaitedFrame{sent_->least_awaited()}))
      least_awaited_told_ = sent_->least_awaited();
  }
  if (max_data_pending_ && wire::write(packet.out, wire::MaxDataFrame{our_max_data_})) {
    packet.add({.type = wire::FrameType::kMaxData});
    max_data_pending_ = false;
  }
  if (close_pending_ && wire::write(packet.out, wire::CloseFrame{0}))
    packet.add({.type = wire::FrameType::kPing});
  if (ping_pending_) {
    packet.out.u8(static_cast<uint8_t>(wire::FrameType::kPing));
    packet.add({.type = wire::FrameType::kPing});
    ping_pending_ = false;
  }
}

// False when the packet has no room for more.
bool Session::put_transfer(Packet& packet, TransferNode& node) {
  auto& stream_node = static_cast<StreamNode&>(node);
  return stream_node.stream ? put_stream(packet, *stream_node.stream) : put_control(packet);
}

bool Session::put_stream(Packet& packet, Stream& stream) {
  if (!stream.send.sendable(session_room())) {  // others have used the session's window up
    refresh(stream);
    return true;
  }
  if ((stream.pending & kPendingOpen) && !put_control_of(packet, stream)) return false;
  const size_t overhead = wire::stream_overhead(stream.id, stream.send.sent_size());
  if (packet.out.remaining() < overhead + kLeastStreamRoom) return false;
  const auto room = static_cast<uint16_t>(std::min<size_t>(packet.out.remaining() - overhead, 0xffff));
  const SendHalf::Cut cut = stream.send.cut(room, session_room());
  const MutableByteSpan payload = wire::write_stream(packet.out,
                                                     {.stream = stream.id,
                                                      .offset = cut.offset,
                                                      .accept_time_us = cut.accept_time_us,
                                                      .end = cut.end,
                                                      .bytes = {}},
                                                     cut.length);
  if (cut.length > 0) stream.send.read(cut, payload);
  packet.add({.type = wire::FrameType::kStream,
              .end = cut.end,
              .length = cut.length,
              .slot = stream.slot,
              .generation = stream.generation,
              .offset = cut.offset});
  if (packet.header.stream == wire::kNoStream) {
    packet.header.stream = static_cast<uint32_t>(stream.id);
    packet.header.transfer_class = stream.node.transfer_class;
    if (stream.node.transfer_class == TransferClass::kRanked) packet.header.rank = stream.node.rank.value();
  }
  data_sent_ += cut.new_bytes;
  host_.counters.stream_bytes_sent += cut.new_bytes;
  if (cut.retransmission) {
    packet.header.flags |= wire::kRetransmission;
    host_.counters.retransmitted_bytes += cut.length;
  }
  host_.scheduler.commit(stream.node, cut.length);
  refresh(stream);
  return true;
}

size_t Session::finish(Packet& packet, MutableByteSpan out) {
  const size_t size = wire::kHeaderSize + packet.out.size();
  packet.header.session = handshake_.peer_session();
  packet.header.number = sent_->next_number();
  packet.header.send_time_us = wire::time_us(packet.now);
  if (packet.chunk_count > 0) packet.header.flags |= wire::kAckEliciting;
  wire::seal(out.first(size), packet.header);
  const auto bytes = static_cast<uint32_t>(size);
  sent_->on_sent(bytes, std::span<const SentChunk>(packet.chunks).first(packet.chunk_count), packet.now);
  rate_->on_sent(sent_->bytes_in_flight());
  pacer_.on_sent(bytes, packet.now);
  if (probe_packets_ > 0 && packet.chunk_count > 0) --probe_packets_;
  ++host_.counters.packets_sent;
  host_.counters.bytes_sent += size;
  host_.counters.retransmitted_packets += (packet.header.flags & wire::kRetransmission) != 0;
  host_.scheduler.on_frame_sent(bytes + kFrameOverhead, packet.now);
  last_sent_ = packet.now;
  update_blocked(packet.now);
  if (close_pending_) go_down(packet.now, PeerDownReason::kLocalClose);
  rearm();
  return size;
}

}  // namespace tictac
