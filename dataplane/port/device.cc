#include "dataplane/port/device.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/port/capture_file.h"

namespace tictac {
namespace {

constexpr uint32_t kEthernet = 14;
constexpr uint32_t kVirtioMtu = 9000;  // VIRTIO_MAX_RX_PKTLEN 9728 less headers; kept to what cards carry too
// af_packet: a frame shares its slot with TPACKET2_HDRLEN and alignment.
constexpr uint32_t kAfPacketOverhead = 128;

absl::Status check_socket_path(const std::string& path, const std::string& what) {
  if (path.empty()) return absl::InvalidArgumentError(absl::StrCat(what, ": needs a path"));
  if (path.size() >= sizeof(sockaddr_un::sun_path) - sizeof(".lock")) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": path is longer than 100 bytes; use a shorter one"));
  }
  if (path.find(',') != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": path may not hold a comma"));
  }
  const std::string folder = path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/') + 1);
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return absl::PermissionDeniedError(absl::StrCat(what, ": cannot write folder ", folder, ": ",
                                                    std::strerror(errno),
                                                    "; make it, or choose another path in both sidecars"));
  }
  return absl::OkStatus();
}

void lower_mtu(DeviceArguments& out, uint32_t limit, const std::string& why) {
  if (out.mtu <= limit) return;
  out.mtu_note = absl::StrCat("mtu lowered from ", out.mtu, " to ", limit, ": ", why);
  out.mtu = limit;
}

// MTU of a kernel interface.
absl::StatusOr<uint32_t> interface_mtu(const std::string& interface, const std::string& what) {
  if (interface.empty() || interface.size() >= IFNAMSIZ) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": an interface name has 1 to 15 bytes"));
  }
  ifreq request = {};
  std::memcpy(request.ifr_name, interface.data(), interface.size());
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int result = ioctl(fd, SIOCGIFMTU, &request);
  const int error = errno;
  close(fd);
  if (result == 0) return static_cast<uint32_t>(request.ifr_mtu);
  return absl::NotFoundError(
      absl::StrCat(what, ": ", std::strerror(error), "; `ip link` lists the interfaces of this namespace"));
}

struct Translate {
  const std::string what;
  const uint32_t index;
  const uint32_t ring;
  DeviceArguments out;

  absl::Status operator()(const VirtioUserDevice& d) {
    out.name = absl::StrCat("net_virtio_user", index);
    out.arguments = absl::StrCat("path=", d.path, ",server=1,queues=1,queue_size=", ring);
    out.lock_path = d.path + ".lock";
    out.stale_path = d.path;
    lower_mtu(out, kVirtioMtu, "virtio-user carries no more");
    return check_socket_path(d.path, what);
  }

  absl::Status operator()(const VhostDevice& d) {
    out.name = absl::StrCat("net_vhost", index);
    out.arguments = absl::StrCat("iface=", d.path, ",client=1,queues=1");
    lower_mtu(out, kVirtioMtu, "the virtio-user side carries no more");
    return check_socket_path(d.path, what);
  }

  absl::Status operator()(const AfPacketDevice& d) {
    const auto mtu = interface_mtu(d.interface, what);
    if (!mtu.ok()) return mtu.status();
    lower_mtu(out, *mtu,
              absl::StrCat("the interface's own (ip link set ", d.interface, " mtu ", out.mtu, ")"));
    // A longer frame than the slot would be dropped without an error (af_packet guide: framesz).
    const uint32_t slot = std::max(2048U, std::bit_ceil(out.mtu + kEthernet + kAfPacketOverhead));
    const uint32_t slots = std::max(ring, 64U) * 2;
    out.least_room = slot;
    out.name = absl::StrCat("net_af_packet", index);
    out.arguments =
        absl::StrCat("iface=", d.interface, ",framesz=", slot, ",blocksz=", std::max(slot, 4096U) * 4,
                     ",framecnt=", slots, ",qdisc_bypass=1");
    return absl::OkStatus();
  }

  absl::Status operator()(const PcapDevice& d) {
    out.name = absl::StrCat("net_pcap", index);
    for (const auto& [key, value] : {std::pair("rx_pcap=", &d.rx_file), std::pair("tx_pcap=", &d.tx_file),
                                     std::pair("iface=", &d.interface)}) {
      if (value->find(',') != std::string::npos) {
        return absl::InvalidArgumentError(absl::StrCat(what, ": names may not hold a comma"));
      }
      if (!value->empty()) absl::StrAppend(&out.arguments, out.arguments.empty() ? "" : ",", key, *value);
    }
    if (out.arguments.empty()) {
      return absl::InvalidArgumentError("pcap: needs rx_file, tx_file or interface");
    }
    if (absl::Status status = d.rx_file.empty() ? absl::OkStatus() : check_capture(d.rx_file); !status.ok())
      return absl::Status(status.code(), absl::StrCat("pcap: rx_file ", status.message()));
    if (absl::Status status = d.tx_file.empty() ? absl::OkStatus() : check_capture_target(d.tx_file);
        !status.ok())
      return absl::Status(status.code(), absl::StrCat("pcap: tx_file ", status.message()));
    if (d.infinite_rx) absl::StrAppend(&out.arguments, ",infinite_rx=1");
    return absl::OkStatus();
  }

  absl::Status operator()(const VdevDevice& d) {
    const size_t comma = d.arguments.find(',');
    out.name = d.arguments.substr(0, comma);
    if (comma != std::string::npos) out.arguments = d.arguments.substr(comma + 1);
    if (out.name.empty()) return absl::InvalidArgumentError("vdev: needs a name like net_null0");
    return absl::OkStatus();
  }

  absl::Status operator()(const PciDevice& d) {
    out.name = d.address;
    if (d.address.empty()) return absl::InvalidArgumentError("pci: needs an address like 0000:01:00.0");
    return absl::OkStatus();
  }
};

}  // namespace

std::string device_name(const Device& device) {
  struct Name {
    std::string operator()(const VirtioUserDevice& d) { return "virtio_user " + d.path; }
    std::string operator()(const VhostDevice& d) { return "vhost " + d.path; }
    std::string operator()(const AfPacketDevice& d) { return "af_packet " + d.interface; }
    std::string operator()(const PcapDevice& d) {
      for (const std::string* name : {&d.rx_file, &d.tx_file, &d.interface}) {
        if (!name->empty()) return "pcap " + *name;
      }
      return "pcap";
    }
    std::string operator()(const VdevDevice& d) { return "vdev " + d.arguments; }
    std::string operator()(const PciDevice& d) { return "pci " + d.address; }
  };
  return std::visit(Name{}, device);
}

absl::StatusOr<DeviceArguments> device_arguments(const Device& device, uint32_t index, uint32_t mtu,
                                                 uint32_t ring) {
  Translate translate{.what = device_name(device), .index = index, .ring = ring, .out = {.mtu = mtu}};
  if (absl::Status status = std::visit(translate, device); !status.ok()) return status;
  return translate.out;
}

}  // namespace tictac
