#pragma once

#include <string>

namespace tictac {

// Tells that a frame arrives on a kernel interface, for af_packet, whose driver has no receive interrupt: a
// second packet socket that lets one byte of each frame through while it is armed, and nothing otherwise.
// Needs CAP_NET_RAW, as af_packet does. Lcore only.
class InterfaceBell {
 public:
  InterfaceBell() = default;
  ~InterfaceBell();
  InterfaceBell(const InterfaceBell&) = delete;
  InterfaceBell& operator=(const InterfaceBell&) = delete;

  // False when it cannot be had: naps do as well. Once.
  bool open(const std::string& interface);
  bool arm();
  void disarm();
  int fd() const { return fd_; }  // readable after a frame arrived while armed

 private:
  int fd_ = -1;
};

}  // namespace tictac
