#include "dataplane/net/udp_stack.h"

#include <algorithm>
#include <optional>

namespace tictac {
namespace {

// RFC 5227, section 1.1: ANNOUNCE_NUM, ANNOUNCE_INTERVAL, DEFEND_INTERVAL.
constexpr uint32_t kAnnouncements = 2;
constexpr Duration kAnnounceInterval = 2s;
constexpr Duration kDefendInterval = 10s;

bool is_multicast(const MacAddress& mac) { return (mac.bytes[0] & 1) != 0; }

void count(uint64_t& counter) { ++counter; }

}  // namespace

UdpStack::UdpStack(const Config& config, Time now) : config_(config), neighbours_(config.neighbours) {
  for (const auto& [ip, mac] : config.static_neighbours) neighbours_.add_static(ip, mac);
  announce(now);
}

void UdpStack::announce(Time now) {
  announcements_left_ = kAnnouncements;
  announce_at_ = now;
}

UdpStack::Received UdpStack::receive(Time now, ByteSpan bytes, bool checksums_verified) {
  const ParsedFrame frame = parse_frame(bytes, checksums_verified);
  if (uint64_t* reason = drop_reason(frame)) {
    count(*reason);
    return {};
  }
  if (frame.kind == FrameKind::kUdp) return receive_udp(now, frame);
  if (frame.kind == FrameKind::kArp) {
    receive_arp(now, frame);
  } else {
    receive_echo(frame);
  }
  return {};
}

uint64_t* UdpStack::drop_reason(const ParsedFrame& frame) {
  uint64_t* by_kind = &counters_.parse[static_cast<size_t>(frame.kind)];
  if (frame.kind >= FrameKind::kFirstError) return by_kind;
  if (frame.destination_mac != config_.mac && frame.destination_mac != kBroadcastMac) {
    return &counters_.other_mac;
  }
  if (is_multicast(frame.source_mac) || frame.source_mac == config_.mac) return &counters_.bad_source;
  if (frame.kind == FrameKind::kArp) return nullptr;
  if (frame.kind == FrameKind::kOtherEther) return by_kind;
  if (frame.destination.ip != config_.local.ip) return &counters_.other_address;
  if (!is_valid_host(frame.source.ip)) return &counters_.bad_source;
  return frame.kind == FrameKind::kOtherIpv4 ? by_kind : nullptr;
}

UdpStack::Received UdpStack::receive_udp(Time now, const ParsedFrame& frame) {
  if (frame.destination.port != config_.local.port) {
    count(counters_.other_port);
    return {};
  }
  if (on_link(frame.source.ip)) {
    send_held(neighbours_.confirm(now, frame.source.ip, frame.source_mac), frame.source_mac);
  }
  count(counters_.datagrams_in);
  return {.is_datagram = true,
          .from = frame.source,
          .payload = frame.payload,
          .ecn = static_cast<uint8_t>(frame.tos & 3)};
}

void UdpStack::receive_arp(Time now, const ParsedFrame& frame) {
  count(counters_.arp_in);
  if (is_multicast(frame.arp_sender_mac) || frame.arp_sender_mac == config_.mac) {
    return count(counters_.bad_source);
  }
  if (frame.arp_sender == config_.local.ip) {
    count(counters_.address_conflicts);
    if (now >= defended_at_ + kDefendInterval) {
      defended_at_ = now;
      announcements_left_ = std::max(announcements_left_, 1U);
      announce_at_ = now;
    }
    return;
  }
  // Sender address 0 is a probe (RFC 5227, 2.1.1): answered, not learned from.
  if (is_valid_host(frame.arp_sender)) {
    send_held(neighbours_.learn(now, frame.arp_sender, frame.arp_sender_mac), frame.arp_sender_mac);
  } else if (frame.arp_sender != 0) {
    return count(counters_.bad_source);
  }
  if (!frame.arp_is_request || frame.arp_target != config_.local.ip) return;
  QueuedFrame* slot = queue_slot();
  if (slot == nullptr) return;
  slot->size = write_arp({.is_request = false,
                          .destination_mac = frame.arp_sender_mac,
                          .sender_mac = config_.mac,
                          .sender = config_.local.ip,
                          .target_mac = frame.arp_sender_mac,
                          .target = frame.arp_sender},
                         slot->bytes);
  count(counters_.arp_out);
}

void UdpStack::receive_echo(const ParsedFrame& frame) {
  count(counters_.icmp_echo_in);
  QueuedFrame* slot = queue_slot();
  if (slot == nullptr) return;
  slot->size = write_icmp_echo_reply(frame, config_.mac, slot->bytes);
  if (slot->size == 0) {
    --queue_size_;
    count(counters_.replies_refused);
  }
}

bool UdpStack::is_valid_host(Ipv4 ip) const {
  const uint32_t first = ip >> 24;
  return first != 0 && first != 127 && first < 224 && ip != config_.local.ip;
}

bool UdpStack::on_link(Ipv4 ip) const {
  if (config_.gateway == 0 || config_.prefix_length == 0) return true;
  const uint32_t mask = ~uint32_t{0} << (32 - std::min<uint8_t>(config_.prefix_length, 32));
  return (ip & mask) == (config_.local.ip & mask);
}

Ipv4 UdpStack::next_hop(Ipv4 ip) const { return on_link(ip) ? ip : config_.gateway; }

size_t UdpStack::finish(Time now, const Address& to, size_t payload_size, MutableByteSpan frame) {
  const Ipv4 hop = next_hop(to.ip);
  const std::optional<MacAddress> mac = neighbours_.find(now, hop);
  const size_t size = write_udp_headers({.source_mac = config_.mac,
                                         .destination_mac = mac.value_or(MacAddress{}),
                                         .source = config_.local,
                                         .destination = to,
                                         .tos = config_.tos,
                                         .ttl = config_.ttl,
                                         .checksum = config_.udp_checksum},
                                        payload_size, frame);
  if (mac && size > 0) {
    count(counters_.datagrams_out);
    return size;
  }
  if (size > 0 && neighbours_.hold(hop, frame.first(size))) {
    count(counters_.unresolved_held);
  } else {
    count(counters_.unresolved);
  }
  counters_.neighbours_evicted = neighbours_.evicted();
  return 0;
}

size_t UdpStack::next_own_frame(Time now, MutableByteSpan frame) {
  if (queue_size_ > 0) {
    const QueuedFrame& next = queue_[queue_head_];
    queue_head_ = (queue_head_ + 1) % kQueuedFrames;
    --queue_size_;
    if (next.size > frame.size()) return 0;
    std::copy_n(next.bytes.begin(), next.size, frame.begin());
    return next.size;
  }
  ArpFields arp{.destination_mac = kBroadcastMac, .sender_mac = config_.mac, .sender = config_.local.ip};
  if (now >= announce_at_) {
    arp.target = config_.local.ip;
    --announcements_left_;
    announce_at_ = announcements_left_ > 0 ? now + kAnnounceInterval : kNever;
  } else if (const auto ask = neighbours_.next_ask(now)) {
    arp.target = ask->ip;
    arp.destination_mac = ask->at.value_or(kBroadcastMac);
  } else {
    return 0;
  }
  count(counters_.arp_out);
  return write_arp(arp, frame);
}

Time UdpStack::next_deadline() const {
  return queue_size_ > 0 ? Time::min() : std::min(announce_at_, neighbours_.next_deadline());
}

void UdpStack::send_held(ByteSpan frame, const MacAddress& to) {
  if (frame.empty()) return;
  QueuedFrame* slot = queue_slot();
  if (slot == nullptr) return;
  slot->size = frame.size();
  std::ranges::copy(frame, slot->bytes.begin());
  std::ranges::copy(to.bytes, slot->bytes.begin());
  count(counters_.datagrams_out);
}

UdpStack::QueuedFrame* UdpStack::queue_slot() {
  if (queue_size_ == kQueuedFrames) {
    count(counters_.replies_refused);
    return nullptr;
  }
  return &queue_[(queue_head_ + queue_size_++) % kQueuedFrames];
}

}  // namespace tictac
