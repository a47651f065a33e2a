#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "ps_proxy/native/native_gateway.h"

namespace tictac::native {
namespace {

constexpr uint32_t kEntriesPerPoll = 128;

}  // namespace

size_t NativeGateway::take_submissions(Time now, ClientSession& client) {
  if (!client.active() || client.congested()) return 0;
  const uint32_t available = client.submissions.available();
  uint32_t taken = 0;
  while (taken < std::min(available, kEntriesPerPoll) && client.active()) {
    const auto submission = client.submissions.peek<Submission>(taken);
    const uint32_t entries = execute(now, client, submission, taken, available);
    if (entries == 0) {
      client.give_up(ClientFault::kBadEntry);
      break;
    }
    taken += entries;
  }
  if (taken > 0) client.submissions.release(taken);
  return taken;
}

ClientSession::Name* NativeGateway::find_name(ClientSession& client, tictac_name_id id) {
  return id < client.names.size() ? &client.names[id] : nullptr;
}

uint32_t NativeGateway::execute(Time now, ClientSession& client, const Submission& submission, uint32_t at,
                                uint32_t available) {
  ClientSession::Name* name = find_name(client, submission.name);
  switch (submission.op) {
    case Op::kName:
      return register_name(client, submission, at, available);
    case Op::kFetch:
      if (!name || submission.peer >= config_.peer_count) return 0;
      fetches_.begin(now, client, *name->name, submission);
      return 1;
    case Op::kCancel:
      fetches_.cancel(client, submission.slot, submission.sequence);
      return 1;
    case Op::kServe:
      if (!name) return 0;
      requests_.serve(client, *name, submission.name);
      return 1;
    case Op::kUnserve:
      if (!name) return 0;
      Requests::unserve(*name);
      return 1;
    case Op::kAnswer:
      requests_.answer(now, client, submission);
      return 1;
    case Op::kDecline:
      requests_.decline(client, submission.request);
      return 1;
  }
  return 0;
}

// The library publishes a name's entries together, so that all of them are there with the first.
uint32_t NativeGateway::register_name(ClientSession& client, const Submission& submission, uint32_t at,
                                      uint32_t available) {
  const uint32_t length = submission.length;
  if (length == 0 || length > TICTAC_MAX_NAME) return 0;
  const uint32_t entries = 1 + text_entries(length);
  if (entries > available - at || submission.name != client.names.size() ||
      client.names.size() >= kMostNames) {
    return 0;
  }
  std::array<char, TICTAC_MAX_NAME + kEntrySize> text;
  for (uint32_t i = 1; i < entries; ++i) {
    const auto piece = client.submissions.peek<TextEntry>(at + i);
    std::memcpy(text.data() + size_t{i - 1} * kEntrySize, piece.bytes, kEntrySize);
  }
  const std::string_view name(text.data(), length);
  if (name.find('\0') != std::string_view::npos) return 0;
  client.names.push_back({.name = &client.job->acquire(name)});
  return entries;
}

}  // namespace tictac::native
