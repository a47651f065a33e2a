// Opening and closing of a DpdkPort.
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "dataplane/port/cable_socket.h"
#include "dataplane/port/dpdk_log.h"
#include "dataplane/port/dpdk_port.h"

namespace tictac {
namespace {

// Ethernet header, VLAN tag, FCS that some devices leave in, and the 12 bytes of virtio that its driver wants
// room for.
constexpr uint32_t kFrameOverhead = 64;
constexpr uint32_t kCache = 64;

// Locally administered, unicast.
MacAddress random_mac() {
  MacAddress mac;
  std::random_device random;
  for (uint8_t& byte : mac.bytes) byte = static_cast<uint8_t>(random());
  mac.bytes[0] = static_cast<uint8_t>((mac.bytes[0] & 0xfc) | 2);
  return mac;
}

// Writes every buffer once, so that no page fault waits in the data path.
void touch(rte_mempool*, void*, void* object, unsigned) {
  auto* m = static_cast<rte_mbuf*>(object);
  std::memset(m->buf_addr, 0, m->buf_len);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DpdkPort>> DpdkPort::open(const PortConfig& config) {
  if (config.mtu < 576 || config.mtu > 9000) {
    return absl::InvalidArgumentError(absl::StrCat("mtu ", config.mtu, ": must be 576 to 9000"));
  }
  if (!std::has_single_bit(config.ring) || config.ring < 64 || config.ring > 1024) {
    return absl::InvalidArgumentError(
        absl::StrCat("ring ", config.ring, ": must be a power of two from 64 to 1024"));
  }
  std::unique_ptr<DpdkPort> port(new DpdkPort());
  port->config_ = config;
  port->name_ = device_name(config.device);
  if (absl::Status status = port->prepare(); !status.ok()) return status;
  if (std::holds_alternative<VirtioUserDevice>(config.device)) {
    port->opener_ = std::thread([p = port.get()] {
      const absl::Status status = p->bring_up();
      if (!status.ok() && !p->closing_.load()) DpdkLog::error(std::string(status.message()));
      p->opened_.store(true);
    });
    return port;
  }
  if (absl::Status status = port->bring_up(); !status.ok()) return status;
  return port;
}

// What can be said at once, without the device.
absl::Status DpdkPort::prepare() {
  static std::atomic<uint32_t> next_index{0};
  auto device = device_arguments(config_.device, next_index++, config_.mtu, config_.ring);
  if (!device.ok()) return device.status();
  arguments_ = *std::move(device);
  mtu_ = arguments_.mtu;
  mtu_note_ = arguments_.mtu_note;
  if (config_.mac) mac_ = *config_.mac;
  if (std::holds_alternative<VirtioUserDevice>(config_.device)) {
    // Chosen here, as the device comes up later.
    if (!config_.mac) mac_ = random_mac();
    absl::StrAppend(&arguments_.arguments, ",mac=", format_mac(mac_));
  }
  if (!arguments_.lock_path.empty()) {
    const auto lock = take_path(arguments_, name_);
    if (!lock.ok()) return lock.status();
    lock_fd_ = *lock;
  }
  if (absl::Status status = check_mtu(); !status.ok()) return status;
  return make_pool(config_);
}

absl::Status DpdkPort::check_mtu() const {
  if (!config_.mtu_is_needed || mtu_ == config_.mtu) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name_, ": mtu ", config_.mtu, " is not possible; ", mtu_note_));
}

absl::Status DpdkPort::bring_up() {
  DpdkLog::be_quiet(false);
  DpdkLog::last_errors();
  for (const auto step : {&DpdkPort::attach, &DpdkPort::configure, &DpdkPort::start}) {
    if (absl::Status status = (this->*step)(config_); !status.ok()) return status;
  }
  ready_.store(true, std::memory_order_release);
  return absl::OkStatus();
}

absl::Status DpdkPort::attach(const PortConfig& config) {
  const std::string bus = std::holds_alternative<PciDevice>(config.device) ? "pci" : "vdev";
  const int error = rte_eal_hotplug_add(bus.c_str(), arguments_.name.c_str(), arguments_.arguments.c_str());
  if (error != 0) return fail("cannot be opened", error);
  device_ = bus + ":" + arguments_.name;
  if (rte_eth_dev_get_port_by_name(arguments_.name.c_str(), &port_) != 0)
    return fail("is no packet device", 0);

  rte_eth_dev_info info = {};
  rte_eth_dev_info_get(port_, &info);
  if (info.max_mtu != 0 && mtu_ > info.max_mtu) {
    mtu_note_ = absl::StrCat("mtu lowered from ", config.mtu, " to ", info.max_mtu, ": the device's largest");
    mtu_ = info.max_mtu;
  }
  return check_mtu();
}

absl::Status DpdkPort::make_pool(const PortConfig& config) {
  // Both rings may be full, the lcore's cache too, and the loop holds two bursts.
  frames_total_ = config.frames != 0 ? config.frames : 2 * config.ring + 4 * kCache + 4 * 64;
  const uint32_t room = RTE_PKTMBUF_HEADROOM + std::max(mtu_ + kFrameOverhead, arguments_.least_room);
  const std::string pool_name = absl::StrCat("tt_", arguments_.name);
  pool_ = rte_pktmbuf_pool_create(pool_name.c_str(), frames_total_, kCache, 0,
                                  static_cast<uint16_t>((room + 63) / 64 * 64), SOCKET_ID_ANY);
  if (pool_ == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat(
        name_, ": no memory for ", frames_total_, " frames of ", room, " bytes: ", rte_strerror(rte_errno),
        "; raise eal.memory_mb by ", frames_total_ * (room + 256) / (1 << 20) + 1));
  }
  rte_mempool_obj_iter(pool_, touch, nullptr);
  return absl::OkStatus();
}

absl::Status DpdkPort::configure(const PortConfig& config) {
  rte_eth_dev_info info = {};
  rte_eth_dev_info_get(port_, &info);
  rte_eth_conf conf = {};
  // af_packet says 1,518 whatever its slots are; it does not look at this again.
  const bool understates = std::holds_alternative<AfPacketDevice>(config.device);
  conf.rxmode.mtu = understates ? std::min(mtu_, 1500U) : mtu_;
  conf.rxmode.offloads =
      info.rx_offload_capa & (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM);
  if (conf.rxmode.offloads != (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM)) {
    conf.rxmode.offloads = 0;  // half of it saves nothing
  }
  conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
  conf.intr_conf.lsc = (*info.dev_flags & RTE_ETH_DEV_INTR_LSC) != 0;
  // Devices tell by failing whether they have receive interrupts.
  conf.intr_conf.rxq = 1;
  if (rte_eth_dev_configure(port_, 1, 1, &conf) != 0) {
    conf.intr_conf.rxq = 0;
    if (const int error = rte_eth_dev_configure(port_, 1, 1, &conf); error != 0) {
      return fail("cannot be configured", error);
    }
  }
  auto in = static_cast<uint16_t>(config.ring);
  auto out = static_cast<uint16_t>(config.ring);
  rte_eth_dev_adjust_nb_rx_tx_desc(port_, &in, &out);
  ring_in_ = in;
  ring_out_ = out;
  const auto node = static_cast<unsigned>(rte_eth_dev_socket_id(port_));
  if (const int error = rte_eth_rx_queue_setup(port_, 0, in, node, nullptr, pool_); error != 0) {
    return fail("has no receive queue", error);
  }
  if (const int error = rte_eth_tx_queue_setup(port_, 0, out, node, nullptr); error != 0) {
    return fail("has no send queue", error);
  }
  return absl::OkStatus();
}

absl::Status DpdkPort::start(const PortConfig& config) {
  rte_ether_addr own = {};
  rte_eth_macaddr_get(port_, &own);
  if (!config.mac && !std::holds_alternative<VirtioUserDevice>(config.device)) {
    std::copy_n(own.addr_bytes, mac_.bytes.size(), mac_.bytes.begin());
  }
  if (!std::ranges::equal(mac_.bytes, own.addr_bytes)) {
    std::ranges::copy(mac_.bytes, own.addr_bytes);
    // A kernel interface keeps its own address: the host's stack then takes our frames for another host's.
    if (std::holds_alternative<AfPacketDevice>(config.device) ||
        rte_eth_dev_default_mac_addr_set(port_, &own) != 0) {
      rte_eth_promiscuous_enable(port_);
    }
  }
  if (const int error = rte_eth_dev_start(port_); error != 0) return fail("does not start", error);
  started_ = true;
  watch_interrupt();
  return absl::OkStatus();
}

// Edge-triggered: net_vhost hands out an epoll set over an eventfd that nobody reads, so its level says
// nothing.
void DpdkPort::watch_interrupt() {
  if (const auto* device = std::get_if<AfPacketDevice>(&config_.device)) {
    bell_.open(device->interface);
    return;
  }
  if (std::holds_alternative<PcapDevice>(config_.device)) return;  // has none, and DPDK logs the question
  const int fd = rte_eth_dev_rx_intr_ctl_q_get_fd(port_, 0);
  if (fd < 0 || rte_eth_dev_rx_intr_disable(port_, 0) != 0) return;
  wake_fd_ = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.u64 = 0}};
  if (wake_fd_ >= 0 && epoll_ctl(wake_fd_, EPOLL_CTL_ADD, fd, &event) != 0) {
    close(wake_fd_);
    wake_fd_ = -1;
  }
}

absl::Status DpdkPort::fail(const std::string& what, int error) const {
  const std::string said = DpdkLog::last_errors();
  std::string text = absl::StrCat(name_, ": ", what);
  if (error != 0) absl::StrAppend(&text, ": ", rte_strerror(error < 0 ? -error : error));
  if (!said.empty()) absl::StrAppend(&text, " (", said, ")");
  if (name_.starts_with("af_packet") && geteuid() != 0) {
    absl::StrAppend(&text,
                    "; af_packet needs CAP_NET_RAW: setcap cap_net_raw+ep on the binary, or run as root");
  }
  if (said.find("PACKET_FANOUT") != std::string::npos) {
    // DPDK numbers the socket's group by process id XOR interface index, and two groups may meet.
    absl::StrAppend(
        &text, "; another DPDK program of this network namespace has the same fanout group: start again");
  }
  return absl::InternalError(text);
}

uint32_t DpdkPort::frames_in_use() const { return ready() ? rte_mempool_in_use_count(pool_) : 0; }

void DpdkPort::will_close() {
  closing_.store(true);
  DpdkLog::be_quiet(true);
}

DpdkPort::~DpdkPort() {
  will_close();
  if (opener_.joinable()) {
    // Again and again: the opener may not have come to accept() yet.
    while (!opened_.load()) {
      end_accept(arguments_.stale_path);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    opener_.join();
  }
  if (port_ != UINT16_MAX) {
    if (started_) rte_eth_dev_stop(port_);
  }
  if (!device_.empty()) {
    const size_t colon = device_.find(':');
    rte_eal_hotplug_remove(device_.substr(0, colon).c_str(), device_.substr(colon + 1).c_str());
  }
  if (pool_ != nullptr) rte_mempool_free(pool_);
  for (const int fd : {wake_fd_, lock_fd_}) {
    if (fd >= 0) close(fd);
  }
}

}  // namespace tictac
