#include "dataplane/port/interface_bell.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace tictac {
namespace {

// A socket filter that takes `bytes` of every frame that is not our own going out.
bool attach_filter(int fd, uint32_t bytes) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, static_cast<uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, bytes),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog program = {.len = 4, .filter = code};
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

}  // namespace

InterfaceBell::~InterfaceBell() {
  if (fd_ >= 0) close(fd_);
}

bool InterfaceBell::open(const std::string& interface) {
  // Protocol 0: nothing is queued before the filter is on.
  fd_ = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_ll address = {};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  const int smallest = 1;  // the kernel makes it a few frames
  const bool good = fd_ >= 0 && address.sll_ifindex != 0 && attach_filter(fd_, 0) &&
                    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &smallest, sizeof smallest) == 0 &&
                    bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (good) return true;
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  return false;
}

bool InterfaceBell::arm() { return fd_ >= 0 && attach_filter(fd_, 1); }

void InterfaceBell::disarm() {
  if (fd_ < 0) return;
  attach_filter(fd_, 0);
  uint8_t byte = 0;
  while (recv(fd_, &byte, 1, MSG_TRUNC) > 0) {
  }
}

}  // namespace tictac
