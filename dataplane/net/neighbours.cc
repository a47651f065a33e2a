#include "dataplane/net/neighbours.h"

#include <algorithm>

namespace tictac {
namespace {

constexpr uint32_t kDirectAsks = 3;

}  // namespace

Neighbours::Neighbours(const Config& config) : config_(config) {
  entries_.reserve(config.capacity);
  keys_.reserve(config.capacity);
}

void Neighbours::add_static(Ipv4 ip, const MacAddress& mac) {
  Entry* entry = lookup(ip);
  if (entry == nullptr) entry = insert(ip);
  if (entry == nullptr) return;
  entry->mac = mac;
  entry->known = entry->fixed = true;
  entry->ask_at = kNever;
}

std::optional<MacAddress> Neighbours::find(Time now, Ipv4 ip) {
  Entry* entry = lookup(ip);
  if (entry == nullptr) entry = insert(ip);
  if (entry == nullptr) return std::nullopt;
  entry->wanted = now;
  if (entry->fixed) return entry->mac;
  if (entry->ask_at == kNever) {
    entry->ask_at = entry->known ? std::max(now, entry->confirmed + config_.confirm_after) : now;
    deadline_ = std::min(deadline_, entry->ask_at);
  }
  if (!entry->known) return std::nullopt;
  return entry->mac;
}

bool Neighbours::hold(Ipv4 ip, ByteSpan frame) {
  Entry* entry = lookup(ip);
  if (entry == nullptr || entry->known || frame.size() > kHeldBytes) return false;
  std::ranges::copy(frame, entry->held);
  entry->held_size = static_cast<uint16_t>(frame.size());
  return true;
}

ByteSpan Neighbours::learn(Time now, Ipv4 ip, const MacAddress& mac) {
  Entry* entry = lookup(ip);
  if (entry == nullptr || entry->fixed) return {};
  entry->mac = mac;
  return settle(now, *entry);
}

ByteSpan Neighbours::confirm(Time now, Ipv4 ip, const MacAddress& mac) {
  Entry* entry = lookup(ip);
  if (entry == nullptr || entry->fixed) return {};
  if (entry->known && entry->mac != mac) return {};  // ARP decides who is right
  entry->mac = mac;
  return settle(now, *entry);
}

ByteSpan Neighbours::settle(Time now, Entry& entry) {
  entry.known = true;
  entry.confirmed = now;
  entry.asks = 0;
  // Leave a far deadline as it is: next_ask looks again at `confirmed`. Only an open question ends here.
  if (entry.ask_at <= now + config_.last_retry) {
    entry.ask_at = kNever;
    update_deadline();
  }
  const size_t size = entry.held_size;
  entry.held_size = 0;
  return {entry.held, size};
}

std::optional<Neighbours::Ask> Neighbours::next_ask(Time now) {
  if (now < deadline_) return std::nullopt;
  std::optional<Ask> ask;
  for (Entry& entry : entries_) {
    if (entry.ask_at > now) continue;
    if (now - entry.wanted > config_.wanted_for) {
      entry.ask_at = kNever;  // the next find() starts again
      entry.asks = 0;
    } else if (entry.known && now < entry.confirmed + config_.confirm_after) {
      entry.ask_at = entry.confirmed + config_.confirm_after;
    } else {
      const Duration wait = config_.first_retry * (int64_t{1} << std::min(entry.asks, 20U));
      entry.ask_at = now + std::min(wait, config_.last_retry);
      const bool direct = entry.known && entry.asks < kDirectAsks;
      ++entry.asks;
      ask = Ask{.ip = entry.ip, .at = direct ? std::optional(entry.mac) : std::nullopt};
      break;
    }
  }
  update_deadline();
  return ask;
}

Neighbours::Entry* Neighbours::lookup(Ipv4 ip) {
  if (last_ < keys_.size() && keys_[last_] == ip) return &entries_[last_];
  const auto found = std::ranges::find(keys_, ip);
  if (found == keys_.end()) return nullptr;
  last_ = static_cast<size_t>(found - keys_.begin());
  return &entries_[last_];
}

Neighbours::Entry* Neighbours::insert(Ipv4 ip) {
  if (entries_.size() < config_.capacity) {
    keys_.push_back(ip);
    return &entries_.emplace_back(Entry{.ip = ip});
  }
  Entry* oldest = nullptr;
  for (Entry& entry : entries_) {
    if (!entry.fixed && (oldest == nullptr || entry.wanted < oldest->wanted)) oldest = &entry;
  }
  if (oldest == nullptr) return nullptr;
  ++evicted_;
  oldest->ip = keys_[static_cast<size_t>(oldest - entries_.data())] = ip;
  oldest->known = false;
  oldest->asks = 0;
  oldest->ask_at = kNever;
  oldest->held_size = 0;
  return oldest;
}

void Neighbours::update_deadline() {
  deadline_ = kNever;
  for (const Entry& entry : entries_) deadline_ = std::min(deadline_, entry.ask_at);
}

}  // namespace tictac
