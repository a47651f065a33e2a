#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/spsc_ring.h"
#include "ps_proxy/native/transfers.h"

namespace tictac::native {

// A file with one line for each fetch that ended here, in the order in which they ended:
//
//   TIME_NS <tab> JOB <tab> SCHEDULE_VERSION <tab> RANK <tab> STATUS <tab> BYTES <tab> NAME
//
// (the lcore's time, CLOCK_MONOTONIC; tabs, line ends and bytes that are not printable are written as \xNN.)
// The lcore puts records into a bounded ring; the control thread writes them. A full ring drops records,
// counted; at its largest size the file is moved to FILE.1 and begun again.
class CompletionLog {
 public:
  // Begins the file anew. The error names it.
  static absl::StatusOr<std::unique_ptr<CompletionLog>> open(const std::string& path, uint64_t most_bytes);
  ~CompletionLog();
  CompletionLog(const CompletionLog&) = delete;
  CompletionLog& operator=(const CompletionLog&) = delete;

  // Lcore.
  void add(Time now, std::string_view job, const Fetch& fetch, tictac_status status, uint64_t size);
  // Control thread, every 100 ms or so: writes what has come.
  void write();
  // Any thread.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  template <size_t kRoom>
  struct Text {
    std::array<char, kRoom> bytes;
    uint16_t size = 0;
    void assign(std::string_view text);
    std::string_view view() const { return {bytes.data(), size}; }
  };
  struct Record {
    int64_t time_ns = 0;
    uint64_t version = 0;
    uint64_t size = 0;
    uint32_t rank = 0;
    tictac_status status{};
    Text<64> job;    // cut
    Text<256> name;  // cut
  };

  CompletionLog(std::string path, uint64_t most_bytes);
  void rotate();

  const std::string path_;
  const uint64_t most_bytes_;
  SpscRing<Record> ring_;
  std::FILE* file_ = nullptr;
  uint64_t written_ = 0;
  std::atomic<uint64_t> dropped_{0};
};

}  // namespace tictac::native
