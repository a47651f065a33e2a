#include "ps_proxy/native/gateway_json.h"

namespace tictac::native {
namespace {

using nlohmann::json;

json to_json(const TransportCounters& counters) {
  json drops = json::object();
  for (size_t i = 0; i < counters.drops.size(); ++i) {
    drops[name_of(static_cast<DropReason>(i))] = counters.drops[i];
  }
  return {{"packets_sent", counters.packets_sent},
          {"packets_received", counters.packets_received},
          {"bytes_sent", counters.bytes_sent},
          {"bytes_received", counters.bytes_received},
          {"stream_bytes_sent", counters.stream_bytes_sent},
          {"stream_bytes_received", counters.stream_bytes_received},
          {"retransmits", counters.retransmitted_packets},
          {"retransmitted_bytes", counters.retransmitted_bytes},
          {"spurious_losses", counters.spurious_losses},
          {"late_packets", counters.late_packets},
          {"streams_opened", counters.streams_opened},
          {"streams_accepted", counters.streams_accepted},
          {"drops", std::move(drops)}};
}

json to_json(const GatewaySnapshot::Job& job) {
  const JobCounters& c = job.counters;
  return {{"job", job.name},
          {"schedule_version", job.version.value()},
          {"names", job.names},
          {"fetches_under_way", job.under_way},
          {"fetches", c.fetches},
          {"fetches_complete", c.fetches_complete},
          {"fetches_failed", c.fetches_failed},
          {"bytes_fetched", c.bytes_fetched},
          {"requests", c.requests},
          {"requests_parked", c.parked},
          {"requests_refused", c.requests_refused},
          {"answers_complete", c.answers_complete},
          {"answers_failed", c.answers_failed},
          {"bytes_answered", c.bytes_answered},
          {"reranks", c.reranks}};
}

json to_json(const SessionStats& session) {
  return {{"up", session.up},
          {"incarnation", session.peer_incarnation},
          {"smoothed_rtt_ns", session.smoothed_rtt.count()},
          {"min_rtt_ns", session.min_rtt.count()},
          {"bytes_in_flight", session.bytes_in_flight},
          {"congestion_window", session.congestion_window},
          {"pacing_rate_bps", session.pacing_rate.value()},
          {"open_streams", session.open_streams}};
}

}  // namespace

nlohmann::json to_json(const GatewaySnapshot& snapshot, const std::vector<std::string>& peers) {
  json jobs = json::array();
  for (const auto& job : snapshot.jobs) jobs.push_back(to_json(job));
  json clients = json::array();
  for (const auto& client : snapshot.clients) {
    clients.push_back({{"application", client.application},
                       {"job", client.job},
                       {"names", client.names},
                       {"doorbells", client.doorbells}});
  }
  json sessions = json::array();
  for (size_t i = 0; i < snapshot.sessions.size(); ++i) {
    json session = to_json(snapshot.sessions[i]);
    session["peer"] = i < peers.size() ? peers[i] : "?";
    sessions.push_back(std::move(session));
  }
  return {{"inversions", snapshot.scheduler.inversions},
          {"late_packets", snapshot.transport.late_packets},
          {"packets", snapshot.transport.packets_sent},
          {"retransmits", snapshot.transport.retransmitted_packets},
          {"jobs", std::move(jobs)},
          {"clients", std::move(clients)},
          {"peers", std::move(sessions)},
          {"transport", to_json(snapshot.transport)},
          {"scheduler",
           {{"picks", snapshot.scheduler.picks},
            {"inversions", snapshot.scheduler.inversions},
            {"shared_levels", snapshot.scheduler.shared_levels},
            {"version_mixes", snapshot.scheduler.version_mixes},
            {"reranks", snapshot.scheduler.reranks}}},
          {"native",
           {{"broken_clients", snapshot.broken_clients},
            {"malformed_requests", snapshot.malformed_requests},
            {"log_lines_dropped", snapshot.log_lines_dropped}}}};
}

}  // namespace tictac::native
