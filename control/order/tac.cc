#include "control/order/tac.h"

#include <algorithm>

#include "control/order/dependencies.h"

namespace tictac {
namespace {

constexpr Duration kInfinite = Duration::max();

// What TAC knows of a group: its outstanding recvs and their transfer times.
struct Outstanding {
  uint32_t count = 0;
  Duration transfer{0};
};

class Tac {
 public:
  Tac(const ModelGraph& graph, Rate bandwidth)
      : groups_(dependency_groups(graph)), groups_of_(graph.recvs.size()) {
    for (const RecvTensor& recv : graph.recvs) transfer_.push_back(transfer_time(recv.bytes, bandwidth));
    for (uint32_t g = 0; g < groups_.size(); ++g) {
      outstanding_.push_back({.count = groups_[g].count, .transfer = Duration(0)});
      groups_[g].for_each([&](uint32_t recv) {
        outstanding_[g].transfer += transfer_[recv];
        groups_of_[recv].push_back(g);
      });
    }
    taken_.resize(transfer_.size());
  }

  std::vector<uint32_t> run() {
    std::vector<uint32_t> order;
    for (size_t i = 0; i < transfer_.size(); ++i) {
      update();
      order.push_back(best());
      take(order.back());
    }
    return order;
  }

 private:
  void update() {
    p_.assign(transfer_.size(), Duration(0));
    m_plus_.assign(transfer_.size(), kInfinite);
    for (uint32_t g = 0; g < groups_.size(); ++g) {
      if (outstanding_[g].count == 0) continue;
      groups_[g].for_each([&](uint32_t recv) {
        if (taken_[recv]) return;
        if (outstanding_[g].count == 1) {
          p_[recv] += groups_[g].time;
        } else {
          m_plus_[recv] = std::min(m_plus_[recv], outstanding_[g].transfer);
        }
      });
    }
  }

  uint32_t best() const {
    uint32_t best = static_cast<uint32_t>(transfer_.size());
    for (uint32_t recv = 0; recv < transfer_.size(); ++recv) {
      if (!taken_[recv] && (best == transfer_.size() || before(recv, best))) best = recv;
    }
    return best;
  }

  bool before(uint32_t a, uint32_t b) const {
    const Duration a_first = std::min(p_[b], transfer_[a]);
    const Duration b_first = std::min(p_[a], transfer_[b]);
    return a_first != b_first ? a_first < b_first : m_plus_[a] < m_plus_[b];
  }

  void take(uint32_t recv) {
    taken_[recv] = true;
    for (const uint32_t g : groups_of_[recv]) {
      --outstanding_[g].count;
      outstanding_[g].transfer -= transfer_[recv];
    }
  }

  std::vector<DependencyGroup> groups_;
  std::vector<std::vector<uint32_t>> groups_of_;  // by recv
  std::vector<Outstanding> outstanding_;
  std::vector<Duration> transfer_;
  std::vector<Duration> p_;
  std::vector<Duration> m_plus_;
  std::vector<bool> taken_;
};

}  // namespace

std::vector<uint32_t> tac_order(const ModelGraph& graph, Rate bandwidth) {
  return Tac(graph, bandwidth).run();
}

}  // namespace tictac
