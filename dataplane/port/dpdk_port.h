#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "dataplane/base/address.h"
#include "dataplane/port/device.h"
#include "dataplane/port/interface_bell.h"
#include "dataplane/port/packet_port.h"
#include "dataplane/port/port_counters.h"

struct rte_mempool;
struct rte_mbuf;

namespace tictac {

struct PortConfig {
  Device device;
  // Largest IP packet, 576..9000. Lowered to what the device carries, with the reason in mtu_note().
  uint32_t mtu = 1500;
  // True: a device that cannot carry `mtu` is an error. For an MTU that the user wrote down.
  bool mtu_is_needed = false;
  // Our Ethernet address. Default: the device's. One that differs makes the port promiscuous where the device
  // cannot take a second address.
  std::optional<MacAddress> mac;
  // Descriptors in each direction, a power of two. Few keep the backlog behind the scheduler short.
  uint32_t ring = 256;
  // Frames in the pool; 0: both rings, the bursts in work and a little more. The pool is touched once here
  // and stays small, so that it lives in the last-level cache.
  uint32_t frames = 0;
};

// A DPDK device with one queue in each direction: the only caller of rte_eth_*. open() and the destructor on
// a control thread while no lcore uses the port; the rest on one lcore (see become_lcore).
//
// A virtio-user device comes up when the vhost side is there (DPDK waits for it), so a thread of the port's
// own does that; until then the port is like one whose cable is out. mac() and mtu() are right from open()
// on.
class DpdkPort : public PacketPort {
 public:
  // Errors name the device, the cause and the cure.
  static absl::StatusOr<std::unique_ptr<DpdkPort>> open(const PortConfig& config);
  ~DpdkPort() override;
  // The port is about to be destroyed: what DPDK says of it from now on is no error, as when the other end of
  // a cable goes at the same time. Until the next port opens: DPDK's interrupt thread may say it late.
  // Control thread.
  void will_close();
  DpdkPort(const DpdkPort&) = delete;
  DpdkPort& operator=(const DpdkPort&) = delete;

  size_t receive(std::span<Frame> frames) override;
  size_t allocate(std::span<Frame> frames) override;
  size_t send(std::span<Frame> frames) override;
  void release(std::span<Frame> frames) override;
  uint32_t max_frame() const override { return mtu_ + 14; }
  bool link_up() const override;
  bool prepare_to_sleep() override;
  void resume() override;
  int wake_fd() const override;

  // Any thread.
  const MacAddress& mac() const { return mac_; }
  uint32_t mtu() const { return mtu_; }
  const std::string& mtu_note() const { return mtu_note_; }
  const std::string& name() const { return name_; }
  // Frames of the pool that the device, the lcore's cache or somebody else holds.
  uint32_t frames_in_use() const;

  // Lcore.
  const PortCounters& counters() const { return counters_; }
  // Fetches what the device counts itself; some devices take a system call for it.
  void update_device_counters();

 private:
  static constexpr size_t kMaxBurst = 64;

  DpdkPort() = default;
  absl::Status prepare();
  absl::Status check_mtu() const;
  absl::Status bring_up();
  absl::Status attach(const PortConfig& config);
  absl::Status make_pool(const PortConfig& config);
  absl::Status configure(const PortConfig& config);
  absl::Status start(const PortConfig& config);
  void watch_interrupt();
  absl::Status fail(const std::string& what, int error) const;

  bool ready() const { return ready_.load(std::memory_order_acquire); }

  PortConfig config_;
  DeviceArguments arguments_;
  std::thread opener_;               // virtio-user only
  std::atomic<bool> ready_{false};   // everything below is set and may be used
  std::atomic<bool> opened_{false};  // opener_ has ended
  std::atomic<bool> closing_{false};
  std::string name_;    // for messages
  std::string device_;  // DPDK's
  uint16_t port_ = UINT16_MAX;
  rte_mempool* pool_ = nullptr;
  int lock_fd_ = -1;
  MacAddress mac_;
  uint32_t mtu_ = 0;
  std::string mtu_note_;
  uint32_t frames_total_ = 0;
  uint32_t ring_in_ = 0;
  uint32_t ring_out_ = 0;
  bool started_ = false;
  InterfaceBell bell_;  // af_packet only
  int wake_fd_ = -1;    // an epoll set that holds the device's interrupt; -1: the device has none
  PortCounters counters_;
  std::array<rte_mbuf*, kMaxBurst> burst_{};
};

}  // namespace tictac
