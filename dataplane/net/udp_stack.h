#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dataplane/base/address.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/types.h"
#include "dataplane/net/headers.h"
#include "dataplane/net/neighbours.h"

namespace tictac {

// Written by the lcore only; others get copies through the mailbox.
struct NetCounters {
  uint64_t datagrams_in = 0;
  uint64_t datagrams_out = 0;
  uint64_t arp_in = 0;
  uint64_t arp_out = 0;
  uint64_t icmp_echo_in = 0;
  uint64_t address_conflicts = 0;  // another host says by ARP that it has our address
  // Received and dropped. parse[k] counts frames that parse_frame refused with kind k, or that nobody here
  // takes.
  std::array<uint64_t, static_cast<size_t>(FrameKind::kCount)> parse{};
  uint64_t other_mac = 0;      // a switch floods, or the port is promiscuous
  uint64_t other_address = 0;  // IPv4 destination is not ours
  uint64_t other_port = 0;
  uint64_t bad_source = 0;       // a source address or MAC that no host may have, or our own
  uint64_t replies_refused = 0;  // queue of ARP and ICMP answers full, or an echo too large
  uint64_t unresolved = 0;       // not sent: no MAC for the neighbour yet, and not held
  uint64_t unresolved_held = 0;  // not sent yet: went out when the MAC was known, or was replaced
  uint64_t neighbours_evicted = 0;
};

// One IPv4 address and UDP port on one Ethernet port: frames in, datagrams out, and the other way round. Also
// answers ARP and ping, announces itself, and finds neighbours. No I/O, no clock, no allocation after
// construction; lcore only.
//
// Sending: write the payload at kUdpPayloadOffset of an empty frame, then call finish(). Frames of the
// stack's own (ARP, answers, held datagrams) are fetched with next_own_frame() until it returns 0.
class UdpStack {
 public:
  struct Config {
    MacAddress mac;
    Address local;
    // Peers outside local/prefix_length are reached through the gateway; without one, everything is on link.
    uint8_t prefix_length = 24;
    Ipv4 gateway = 0;
    uint8_t tos = 0;
    uint8_t ttl = 64;
    bool udp_checksum = true;  // false sends 0: the CRC-32C of our packets still guards the payload
    std::vector<std::pair<Ipv4, MacAddress>> static_neighbours;
    Neighbours::Config neighbours;
  };

  UdpStack(const Config& config, Time now);

  struct Received {
    bool is_datagram = false;  // false: handled here or dropped, and counted
    Address from;
    ByteSpan payload;  // borrows the frame
    uint8_t ecn = 0;   // RFC 3168 code point
  };
  Received receive(Time now, ByteSpan frame, bool checksums_verified);

  // Writes the headers in front of the payload. Returns the size of the frame; 0 when it must not be sent:
  // the neighbour is not known (a small datagram is held until it is, others are lost) or sizes do not fit.
  size_t finish(Time now, const Address& to, size_t payload_size, MutableByteSpan frame);

  // A frame of the stack's own that is due, into `frame` (>= kMaxOwnFrame bytes); 0 when there is none.
  size_t next_own_frame(Time now, MutableByteSpan frame);
  Time next_deadline() const;

  // The link is (again) there: tell the switch and the neighbours where we are (RFC 5227, 2.3).
  void announce(Time now);

  const NetCounters& counters() const { return counters_; }
  const Config& config() const { return config_; }

  static constexpr size_t kMaxOwnFrame = Neighbours::kHeldBytes;

 private:
  static constexpr size_t kQueuedFrames = 16;
  struct QueuedFrame {
    size_t size = 0;
    std::array<uint8_t, kMaxOwnFrame> bytes;
  };

  // Counter of the reason why nobody here takes the frame; null when somebody does.
  uint64_t* drop_reason(const ParsedFrame& frame);
  Received receive_udp(Time now, const ParsedFrame& frame);
  void receive_arp(Time now, const ParsedFrame& frame);
  void receive_echo(const ParsedFrame& frame);
  bool is_valid_host(Ipv4 ip) const;
  bool on_link(Ipv4 ip) const;
  Ipv4 next_hop(Ipv4 ip) const;
  void send_held(ByteSpan frame, const MacAddress& to);
  QueuedFrame* queue_slot();

  Config config_;
  Neighbours neighbours_;
  NetCounters counters_;
  std::array<QueuedFrame, kQueuedFrames> queue_{};
  size_t queue_head_ = 0;
  size_t queue_size_ = 0;
  uint32_t announcements_left_ = 0;
  Time announce_at_ = kNever;
  Time defended_at_ = Time::min();
};

}  // namespace tictac
