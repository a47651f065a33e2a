#pragma once

#include "dataplane/sched/transfer_node.h"

namespace tictac {

// Transfers in order of arrival, linked through the nodes: O(1) from anywhere, no allocation. A node is in at
// most one list; nodes are borrowed. Lcore only.
struct TransferList {
  TransferNode* head = nullptr;
  TransferNode* tail = nullptr;

  bool empty() const { return head == nullptr; }

  // `node` is in no list.
  void push_back(TransferNode& node) {
    node.previous = tail;
    node.next = nullptr;
    (tail ? tail->next : head) = &node;
    tail = &node;
  }

  // `node` is in this list.
  void remove(TransferNode& node) {
    (node.previous ? node.previous->next : head) = node.next;
    (node.next ? node.next->previous : tail) = node.previous;
    node.previous = node.next = nullptr;
  }
};

}  // namespace tictac
