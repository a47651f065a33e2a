#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/transport/endpoint.h"

namespace tictac::fakes {

// Keeps what an endpoint says; `on_open_do` decides about streams (default: bytes are thrown away).
class RecordingEvents : public EndpointEvents {
 public:
  struct Opened {
    StreamRef stream;
    std::string job;
    Rank rank;
    ScheduleVersion version;
    TransferClass answer_class;
    std::string preamble;
  };

  void on_peer_up(PeerId, const PeerUp& info) override {
    ++ups;
    incarnation = info.incarnation;
    max_datagram = info.max_datagram;
  }
  void on_peer_down(PeerId, PeerDownReason reason) override { downs.push_back(reason); }
  TransferSink* on_open(StreamRef stream, const OpenParams& params) override {
    opened.push_back({stream, std::string(params.job), params.rank, params.version, params.answer_class,
                      std::string(params.preamble.begin(), params.preamble.end())});
    return on_open_do ? on_open_do(stream) : nullptr;
  }
  void on_abandoned(StreamRef stream, uint32_t code) override { abandoned.emplace_back(stream, code); }

  int ups = 0;
  uint64_t incarnation = 0;
  size_t max_datagram = 0;
  std::vector<PeerDownReason> downs;
  std::vector<Opened> opened;
  std::vector<std::pair<StreamRef, uint32_t>> abandoned;
  std::function<TransferSink*(StreamRef)> on_open_do;
};

}  // namespace tictac::fakes
