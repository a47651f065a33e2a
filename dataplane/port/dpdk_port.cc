#include "dataplane/port/dpdk_port.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sys/epoll.h>

#include <algorithm>

namespace tictac {
namespace {

constexpr uint64_t kChecksumsGood = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;

rte_mbuf* mbuf_of(const Frame& frame) { return static_cast<rte_mbuf*>(frame.buffer); }

}  // namespace

size_t DpdkPort::receive(std::span<Frame> frames) {
  if (!ready()) return 0;
  const auto wanted = static_cast<uint16_t>(std::min(frames.size(), kMaxBurst));
  const uint16_t got = rte_eth_rx_burst(port_, 0, burst_.data(), wanted);
  size_t n = 0;
  for (uint16_t i = 0; i < got; ++i) {
    rte_mbuf* m = burst_[i];
    counters_.bytes_in += m->pkt_len;
    if (m->nb_segs != 1) {
      ++counters_.segmented;
      rte_pktmbuf_free(m);
      continue;
    }
    frames[n++] = {.data = rte_pktmbuf_mtod(m, uint8_t*),
                   .size = m->data_len,
                   .capacity = static_cast<uint32_t>(m->buf_len - m->data_off),
                   .buffer = m,
                   .checksums_verified = (m->ol_flags & kChecksumsGood) == kChecksumsGood};
  }
  counters_.frames_in += got;
  return n;
}

size_t DpdkPort::allocate(std::span<Frame> frames) {
  if (!ready()) return 0;
  const size_t n = std::min(frames.size(), kMaxBurst);
  if (rte_pktmbuf_alloc_bulk(pool_, burst_.data(), static_cast<unsigned>(n)) != 0) {
    ++counters_.pool_empty;
    return 0;
  }
  for (size_t i = 0; i < n; ++i) {
    rte_mbuf* m = burst_[i];
    frames[i] = {.data = rte_pktmbuf_mtod(m, uint8_t*),
                 .capacity = std::min<uint32_t>(rte_pktmbuf_tailroom(m), max_frame()),
                 .buffer = m};
  }
  return n;
}

size_t DpdkPort::send(std::span<Frame> frames) {
  const auto n = static_cast<uint16_t>(std::min(frames.size(), kMaxBurst));
  uint64_t bytes = 0;
  for (uint16_t i = 0; i < n; ++i) {
    rte_mbuf* m = burst_[i] = mbuf_of(frames[i]);
    m->data_len = static_cast<uint16_t>(frames[i].size);
    m->pkt_len = frames[i].size;
    m->ol_flags = 0;
  }
  const uint16_t sent = rte_eth_tx_burst(port_, 0, burst_.data(), n);
  for (uint16_t i = 0; i < sent; ++i) bytes += frames[i].size;
  counters_.frames_out += sent;
  counters_.bytes_out += bytes;
  counters_.refused += n - sent;
  return sent;
}

void DpdkPort::release(std::span<Frame> frames) {
  for (const Frame& frame : frames) rte_pktmbuf_free(mbuf_of(frame));
}

bool DpdkPort::link_up() const {
  if (!ready()) return false;
  rte_eth_link link = {};
  return rte_eth_link_get_nowait(port_, &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
}

bool DpdkPort::prepare_to_sleep() {
  if (!ready()) return false;
  return bell_.fd() >= 0 ? bell_.arm() : wake_fd_ >= 0 && rte_eth_dev_rx_intr_enable(port_, 0) == 0;
}

void DpdkPort::resume() {
  if (!ready()) return;
  bell_.disarm();
  if (wake_fd_ < 0) return;
  rte_eth_dev_rx_intr_disable(port_, 0);
  epoll_event rung;
  epoll_wait(wake_fd_, &rung, 1, 0);  // takes the edge, so that wake_fd_ is quiet until the next one
}

int DpdkPort::wake_fd() const {
  if (!ready()) return -1;
  return bell_.fd() >= 0 ? bell_.fd() : wake_fd_;
}

void DpdkPort::update_device_counters() {
  rte_eth_stats stats = {};
  if (!ready() || rte_eth_stats_get(port_, &stats) != 0) return;
  counters_.device_in_missed = stats.imissed + stats.rx_nombuf;
  counters_.device_in_errors = stats.ierrors;
  counters_.device_out_errors = stats.oerrors;
}

}  // namespace tictac
