#include "ps_proxy/native/native_gateway.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tictac::native {
namespace {

constexpr size_t kReplies = 4096;
constexpr size_t kReranksPerPoll = 256;
constexpr Duration kLookAgain = 1ms;  // at a client that takes no events: it does not ring for that

}  // namespace

NativeGateway::NativeGateway(const Config& config)
    : config_(config),
      fetches_(config.log),
      requests_(jobs_, config.most_parked),
      peer_up_(config.peer_count),
      replies_(kReplies),
      reply_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

NativeGateway::~NativeGateway() = default;

void NativeGateway::connect(Endpoint& endpoint, const Scheduler& scheduler) {
  endpoint_ = &endpoint;
  scheduler_ = &scheduler;
  fetches_.use(endpoint);
  requests_.use(endpoint);
}

GatewayReply NativeGateway::take_reply() {
  eventfd_t count = 0;
  eventfd_read(reply_fd_.get(), &count);
  auto reply = replies_.try_pop();
  if (!reply) return {};
  eventfd_write(reply_fd_.get(), 1);  // there may be more
  return std::move(*reply);
}

void NativeGateway::send_replies() {
  while (!unsent_.empty() && replies_.try_push(std::move(unsent_.front()))) {
    unsent_.erase(unsent_.begin());
    eventfd_write(reply_fd_.get(), 1);
  }
}

void NativeGateway::reply(GatewayReply reply) {
  if (!unsent_.empty() || !replies_.try_push(std::move(reply))) {
    unsent_.push_back(std::move(reply));  // NOLINT(bugprone-use-after-move): a refused item is unchanged
    return;
  }
  eventfd_write(reply_fd_.get(), 1);
}

size_t NativeGateway::poll(Time now) {
  now_ = now;
  fetches_.set_now(now);
  send_replies();
  size_t work = requests_.run();
  for (const auto& client : clients_) {
    requests_.deliver_waiting(*client);
    work += take_submissions(now, *client);
  }
  for (const auto& job : jobs_) {
    job->refresh(now);
    work += fetches_.rerank(*job, kReranksPerPoll);
  }
  work += detach_some();
  const auto time_ns = static_cast<uint64_t>(now.time_since_epoch().count());
  any_congested_ = false;
  for (const auto& client : clients_) {
    client->flush(time_ns);
    any_congested_ |= client->congested();
    if (client->broken()) client->give_up(ClientFault::kRingIndex);
    if (client->fault() != ClientFault::kNoFault) report_fault(*client);
  }
  return work;
}

Time NativeGateway::next_deadline() const {
  Time next = any_congested_ || !unsent_.empty() ? now_ + kLookAgain : kNever;
  for (const auto& job : jobs_) next = std::min(next, job->refresh_due());
  return next;
}

bool NativeGateway::prepare_to_sleep() {
  if (!leaving_.empty()) return false;
  for (size_t i = 0; i < clients_.size(); ++i) {
    ClientSession& client = *clients_[i];
    if (!client.active() || client.congested() || client.submissions.prepare_to_sleep()) continue;
    for (size_t j = 0; j < i; ++j) clients_[j]->submissions.resume();
    return false;
  }
  return true;
}

void NativeGateway::resume() {
  for (const auto& client : clients_) client->submissions.resume();
  std::array<epoll_event, 64> events;
  std::array<char, 256> rings;
  const int count = epoll_wait(epoll_.get(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<size_t>(i)].data.fd;
    // At its end its owner has gone; the control thread learns that from the socket.
    if (recv(fd, rings.data(), rings.size(), MSG_DONTWAIT) == 0) {
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    }
  }
}

void NativeGateway::on_peer_up(PeerId peer, const PeerUp&) {
  if (peer.value() < peer_up_.size()) peer_up_[peer.value()] = true;
  for (const auto& client : clients_) tell_peer(*client, peer, true);
}

void NativeGateway::on_peer_down(PeerId peer, PeerDownReason) {
  if (peer.value() < peer_up_.size()) peer_up_[peer.value()] = false;
  for (const auto& client : clients_) tell_peer(*client, peer, false);
}

TransferSink* NativeGateway::on_open(StreamRef stream, const OpenParams& params) {
  requests_.on_open(stream, params);
  return nullptr;
}

void NativeGateway::on_abandoned(StreamRef stream, uint32_t) { requests_.on_abandoned(stream); }

}  // namespace tictac::native
