#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dataplane/sched/transfer_list.h"

namespace tictac {

// Ready transfers by level, strict between levels and FIFO inside one. A find-first-set tree of 64 x 64 bits
// over 4,096 intrusive lists: push, remove and front are O(1) and touch two bitmap words and one list.
//
// Invariants: bit l of words_ is set if and only if list l holds a node; bit w of summary_ if and only if
// words_[w] is not zero; a node is in at most one queue, under node.level. Nodes are borrowed.
class RankQueue {
 public:
  static constexpr uint32_t kLevels = 4096;

  bool empty() const { return summary_ == 0; }

  // Best level that holds a node; only when not empty.
  uint32_t best_level() const {
    const auto word = static_cast<uint32_t>(std::countr_zero(summary_));
    return word * 64 + static_cast<uint32_t>(std::countr_zero(words_[word]));
  }

  // Oldest node of the best level, or null.
  TransferNode* front() const { return empty() ? nullptr : lists_[best_level()].head; }

  // `node` is in no queue and its level is below kLevels.
  void push_back(TransferNode& node) {
    lists_[node.level].push_back(node);
    words_[node.level / 64] |= uint64_t{1} << (node.level % 64);
    summary_ |= uint64_t{1} << (node.level / 64);
  }

  // `node` is in this queue.
  void remove(TransferNode& node) {
    TransferList& list = lists_[node.level];
    list.remove(node);
    if (!list.empty()) return;
    uint64_t& word = words_[node.level / 64];
    word &= ~(uint64_t{1} << (node.level % 64));
    if (word == 0) summary_ &= ~(uint64_t{1} << (node.level / 64));
  }

 private:
  uint64_t summary_ = 0;
  std::array<uint64_t, kLevels / 64> words_{};
  std::array<TransferList, kLevels> lists_{};
};

}  // namespace tictac
