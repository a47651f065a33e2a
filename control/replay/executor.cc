#include "control/replay/executor.h"

#include <algorithm>

namespace tictac::replay {

Executor::Executor(const ModelGraph& graph, double time_scale)
    : graph_(graph), users_(graph.ops.size()), ops_of_recv_(graph.recvs.size()) {
  for (uint32_t op = 0; op < graph.ops.size(); ++op) {
    times_.push_back(
        Duration(static_cast<int64_t>(static_cast<double>(graph.ops[op].time.count()) * time_scale)));
    for (const uint32_t input : graph.ops[op].inputs) users_[input].push_back(op);
    if (graph.ops[op].recv != kNoRecv) ops_of_recv_[graph.ops[op].recv].push_back(op);
  }
}

void Executor::start(Time now) {
  missing_.assign(graph_.ops.size(), 0);
  ready_at_.assign(graph_.ops.size(), now);
  waiting_ = {};
  ready_ = {};
  running_ = false;
  unit_free_at_ = end_ = now;
  left_ = graph_.ops.size();
  for (uint32_t op = 0; op < graph_.ops.size(); ++op) {
    missing_[op] = static_cast<uint32_t>(graph_.ops[op].inputs.size());
    if (missing_[op] == 0 && graph_.ops[op].recv == kNoRecv) waiting_.emplace(now, op);
  }
}

void Executor::on_arrival(uint32_t recv, Time when) {
  for (const uint32_t op : ops_of_recv_[recv]) complete(op, when);
}

void Executor::complete(uint32_t op, Time when) {
  --left_;
  end_ = std::max(end_, when);
  for (const uint32_t user : users_[op]) {
    ready_at_[user] = std::max(ready_at_[user], when);
    if (--missing_[user] == 0) waiting_.emplace(ready_at_[user], user);
  }
}

bool Executor::choose(Time now) {
  if (ready_.empty()) {
    if (waiting_.empty()) return false;
    const Time first = std::max(unit_free_at_, waiting_.top().first);
    if (first > now) return false;
    unit_free_at_ = first;
  }
  for (; !waiting_.empty() && waiting_.top().first <= unit_free_at_; waiting_.pop())
    ready_.push(waiting_.top().second);
  running_op_ = ready_.top();
  ready_.pop();
  running_ = true;
  unit_free_at_ += times_[running_op_];
  return true;
}

void Executor::advance(Time now, const std::function<void(uint32_t op, Time end)>& done) {
  while (true) {
    if (running_) {
      if (unit_free_at_ > now) return;
      running_ = false;
      complete(running_op_, unit_free_at_);
      done(running_op_, unit_free_at_);
    }
    if (unit_free_at_ > now || !choose(now)) return;
  }
}

Time Executor::next_deadline() const {
  if (running_ || !ready_.empty()) return unit_free_at_;
  return waiting_.empty() ? kNever : std::max(unit_free_at_, waiting_.top().first);
}

}  // namespace tictac::replay
