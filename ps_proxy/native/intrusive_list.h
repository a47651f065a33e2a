#pragma once

#include <cstddef>

namespace tictac::native {

// Link of an object that stands in at most one IntrusiveList; the object outlives its membership.
struct ListLink {
  ListLink* previous = nullptr;
  ListLink* next = nullptr;
  bool linked() const { return previous != nullptr; }
};

// First-in, first-out list of objects with a `ListLink` base; no allocation, O(1) removal from anywhere.
template <typename T>
class IntrusiveList {
 public:
  IntrusiveList() { root_.previous = root_.next = &root_; }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;

  bool empty() const { return root_.next == &root_; }
  size_t size() const { return size_; }
  T* front() { return empty() ? nullptr : static_cast<T*>(root_.next); }
  void push_back(T& item) {
    ListLink& link = item;
    link.previous = root_.previous;
    link.next = &root_;
    root_.previous->next = &link;
    root_.previous = &link;
    ++size_;
  }
  void remove(T& item) {
    ListLink& link = item;
    link.previous->next = link.next;
    link.next->previous = link.previous;
    link.previous = link.next = nullptr;
    --size_;
  }
  T* pop_front() {
    T* item = front();
    if (item) remove(*item);
    return item;
  }

 private:
  ListLink root_;
  size_t size_ = 0;
};

}  // namespace tictac::native
