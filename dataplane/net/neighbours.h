#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/base/address.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/types.h"

namespace tictac {

// Which Ethernet address stands behind an IPv4 address: the addresses that we send to, and no others, so that
// strangers cannot fill the table. Bounded: when it is full, the entry that was used longest ago goes.
//
// An entry asks by ARP at once, then with back-off while somebody still wants it. Once known it stays in use;
// when nothing was heard from it for `confirm_after` it is asked again, first directly, then by broadcast
// (RFC 1122, 2.3.2.1), without a pause in sending. A datagram from the address confirms it, and fills it in
// while it is unknown; after that only ARP may change it.
//
// Lcore only. Nothing allocates after construction.
class Neighbours {
 public:
  struct Config {
    size_t capacity = 256;
    Duration first_retry = 50ms;  // doubles up to last_retry
    Duration last_retry = 1s;
    Duration confirm_after = 15s;
    Duration wanted_for = 3s;  // asks go on for this long after the last find()
  };
  static constexpr size_t kHeldBytes = 512;

  explicit Neighbours(const Config& config);

  // A neighbour that never asks and never changes. Before traffic.
  void add_static(Ipv4 ip, const MacAddress& mac);

  // The address to send to now; nothing while unknown: then an ask is due. Marks the entry as wanted.
  std::optional<MacAddress> find(Time now, Ipv4 ip);

  // Keeps the newest small datagram for a neighbour that is not yet known (RFC 1122, 2.3.2.2), as a whole
  // frame without its destination MAC. False when it is too large or the neighbour is not being asked for.
  bool hold(Ipv4 ip, ByteSpan frame);

  // `ip` said by ARP that it is at `mac`. Returns a held frame that may go out now: borrowed until the next
  // call; empty when there is none.
  ByteSpan learn(Time now, Ipv4 ip, const MacAddress& mac);
  // A good datagram came from `ip` at `mac`. Returns as learn().
  ByteSpan confirm(Time now, Ipv4 ip, const MacAddress& mac);

  struct Ask {
    Ipv4 ip = 0;
    std::optional<MacAddress> at;  // ask there; by broadcast if unset
  };
  // An ARP request that is due, if any; it counts as sent.
  std::optional<Ask> next_ask(Time now);
  // When next_ask will have one, if nothing else happens.
  Time next_deadline() const { return deadline_; }

  size_t size() const { return entries_.size(); }
  uint64_t evicted() const { return evicted_; }

 private:
  struct Entry {
    Ipv4 ip = 0;
    MacAddress mac;
    bool known = false;
    bool fixed = false;
    uint32_t asks = 0;  // since last confirmed
    Time confirmed{};
    Time wanted{};
    Time ask_at = kNever;
    uint16_t held_size = 0;
    uint8_t held[kHeldBytes];
  };

  Entry* lookup(Ipv4 ip);
  Entry* insert(Ipv4 ip);
  ByteSpan settle(Time now, Entry& entry);
  void update_deadline();

  Config config_;
  std::vector<Entry> entries_;
  std::vector<Ipv4> keys_;  // entries_[i].ip, packed for the search
  size_t last_ = 0;         // the entry found last: most sends go on to the same neighbour
  Time deadline_ = kNever;
  uint64_t evicted_ = 0;
};

}  // namespace tictac
