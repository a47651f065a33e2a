#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "dataplane/base/address.h"

namespace tictac {

// Ends of a shared-memory cable between two processes of one host. The virtio-user side makes the socket and
// listens, the vhost side connects and reconnects; either may start first, die and come back. No rights
// needed beyond the folder of the socket. vhost maps the virtio side's packet memory, so both sides trust
// each other (architecture: memory and trust).
struct VirtioUserDevice {
  std::string path;
};
struct VhostDevice {
  std::string path;
};
// A network interface of the kernel; needs CAP_NET_RAW in its namespace.
struct AfPacketDevice {
  std::string interface;
};
// Captures in files, or an interface through libpcap. At least one of the three.
struct PcapDevice {
  std::string rx_file;
  std::string tx_file;
  std::string interface;
  bool infinite_rx = false;
};
// As EAL's --vdev takes it: "net_null0", "net_ring0", "net_af_xdp0,iface=eth1".
struct VdevDevice {
  std::string arguments;
};
struct PciDevice {
  std::string address;
};
using Device = std::variant<VirtioUserDevice, VhostDevice, AfPacketDevice, PcapDevice, VdevDevice, PciDevice>;

// "vhost /run/x.sock", "af_packet eth0": for messages.
std::string device_name(const Device& device);

// What DPDK is asked for: a device name with its arguments, and what bounds the frames on it.
struct DeviceArguments {
  std::string name;         // "net_vhost0" or a PCI address
  std::string arguments;    // what follows the first comma
  uint32_t mtu = 0;         // lowered to what the device carries
  uint32_t least_room = 0;  // bytes that the device wants in a buffer, whatever the MTU
  std::string mtu_note;     // why it is lower than asked for; else empty
  std::string lock_path;    // file to hold a lock on while the device is in use; empty: none
  std::string stale_path;   // socket file that a killed process may have left; removed once the lock is held
};

// Translates a device of the configuration. `index` is unique among the ports of the process, `ring` is the
// number of descriptors in each direction where the device lets us choose. Errors name the device and the
// cure: interface missing, file missing, path too long.
absl::StatusOr<DeviceArguments> device_arguments(const Device& device, uint32_t index, uint32_t mtu,
                                                 uint32_t ring);

}  // namespace tictac
