#include <sys/epoll.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "ps_proxy/native/native_gateway.h"

namespace tictac::native {
namespace {

constexpr size_t kDetachSteps = 128;  // streams or names of a leaving client per poll

}  // namespace

bool NativeGateway::attach(std::unique_ptr<ClientSession>& session) {
  ClientSession& client = *session;
  if (!endpoint_->job_id(client.job_name)) return false;
  client.job = &jobs_.get(client.job_name);
  epoll_event event{.events = EPOLLIN, .data = {.fd = client.doorbell()}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, client.doorbell(), &event);
  for (size_t i = 0; i < peer_up_.size(); ++i) {
    if (peer_up_[i]) tell_peer(client, PeerId(static_cast<uint16_t>(i)), true);
  }
  clients_.push_back(std::move(session));
  return true;
}

void NativeGateway::detach(uint64_t id) {
  const auto found =
      std::find_if(clients_.begin(), clients_.end(), [id](const auto& client) { return client->id == id; });
  if (found == clients_.end()) return;
  (*found)->detaching = true;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, (*found)->doorbell(), nullptr);
  // At once, so that no new request is brought to it.
  for (ClientSession::Name& name : (*found)->names) Requests::unserve(name);
  leaving_.push_back(std::move(*found));
  clients_.erase(found);
}

std::unique_ptr<const RankTable> NativeGateway::set_table(std::string_view job,
                                                          std::unique_ptr<const RankTable> table) {
  return jobs_.get(job).set_table(std::move(table));
}

void NativeGateway::take_snapshot(GatewaySnapshot& out) const {
  for (const auto& job : jobs_) {
    out.jobs.push_back({job->name(), job->version(), job->name_count(), job->under_way(), job->counters});
  }
  for (const auto& client : clients_) {
    out.clients.push_back(
        {client->application, client->job_name, client->names.size(), client->doorbells_rung});
  }
  out.transport = endpoint_->counters();
  out.scheduler = scheduler_->counters();
  for (size_t i = 0; i < config_.peer_count; ++i) {
    out.sessions.push_back(endpoint_->session_stats(PeerId(static_cast<uint16_t>(i))));
  }
  out.broken_clients = broken_clients_;
  out.malformed_requests = requests_.malformed();
  out.log_lines_dropped = config_.log ? config_.log->dropped() : 0;
}

size_t NativeGateway::detach_some() {
  if (leaving_.empty()) return 0;
  ClientSession& client = *leaving_.front();
  if (fetches_.abandon(client, kDetachSteps) || requests_.abandon(client, kDetachSteps) ||
      abandon_names(client, kDetachSteps)) {
    return 1;
  }
  reply(ClientDetached{std::move(leaving_.front())});
  leaving_.erase(leaving_.begin());
  return 1;
}

bool NativeGateway::abandon_names(ClientSession& client, size_t budget) {
  while (!client.names.empty()) {
    if (budget-- == 0) return true;
    client.job->release(*client.names.back().name);
    client.names.pop_back();
  }
  return false;
}

void NativeGateway::report_fault(ClientSession& client) {
  if (std::exchange(client.fault_reported, true)) return;
  ++broken_clients_;
  reply(ClientBroken{client.id, client.fault()});
}

void NativeGateway::tell_peer(ClientSession& client, PeerId peer, bool up) {
  client.set_peer_up(peer, up);
  client.push({.kind = static_cast<uint32_t>(up ? TICTAC_EVENT_PEER_UP : TICTAC_EVENT_PEER_DOWN),
               .name = kNone,
               .peer = peer.value()});
}

}  // namespace tictac::native
