#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/transport/transfer.h"

namespace tictac::fakes {

struct Ended {
  StreamEnd how;
  uint64_t size;
  uint32_t code;
  friend bool operator==(const Ended&, const Ended&) = default;
};

// A source with its bytes in memory; the test lets it grow.
class BufferSource : public TransferSource {
 public:
  explicit BufferSource(std::string bytes, bool finished = true)
      : bytes_(std::move(bytes)), finished_(finished) {}
  void append(const std::string& more) { bytes_ += more; }
  void finish() { finished_ = true; }

  uint64_t available() const override { return bytes_.size(); }
  bool finished() const override { return finished_; }
  void read(uint64_t offset, MutableByteSpan out) override {
    ASSERT_LE(offset + out.size(), bytes_.size());
    ASSERT_GE(offset, acked) << "acknowledged bytes are read again";
    ASSERT_FALSE(ended);
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), out.size(), out.begin());
  }
  void on_acked(uint64_t offset) override {
    EXPECT_GT(offset, acked);
    acked = offset;
  }
  void on_done(StreamEnd end, uint32_t code) override {
    EXPECT_FALSE(ended) << "done twice";
    ended = Ended{end, acked, code};
  }

  uint64_t acked = 0;
  std::optional<Ended> ended;

 private:
  std::string bytes_;
  bool finished_;
};

// A sink that keeps the bytes and checks that each comes once.
class BufferSink : public TransferSink {
 public:
  explicit BufferSink(uint64_t limit = 1 << 20) : limit_(limit) {}
  void set_limit(uint64_t limit) { limit_ = limit; }

  uint64_t limit() const override { return limit_; }
  void write(uint64_t offset, ByteSpan data) override {
    EXPECT_FALSE(ended);
    EXPECT_LE(offset + data.size(), limit_);
    if (bytes.size() < offset + data.size()) bytes.resize(offset + data.size(), '\0');
    written_.resize(bytes.size());
    for (size_t i = 0; i < data.size(); ++i) {
      EXPECT_FALSE(written_[offset + i]) << "byte " << offset + i << " came twice";
      written_[offset + i] = true;
      bytes[offset + i] = static_cast<char>(data[i]);
    }
  }
  void on_progress(uint64_t offset) override {
    EXPECT_GT(offset, progress);
    progress = offset;
  }
  void on_done(StreamEnd end, uint64_t size, uint32_t code) override {
    EXPECT_FALSE(ended) << "done twice";
    ended = Ended{end, size, code};
  }

  std::string bytes;
  uint64_t progress = 0;
  std::optional<Ended> ended;

 private:
  uint64_t limit_;
  std::vector<bool> written_;
};

}  // namespace tictac::fakes
