#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/transport/stream/range_set.h"
#include "dataplane/transport/transfer.h"

namespace tictac {

// The sending direction of a stream: what was sent, acknowledged, lost, and what may be sent next. Knows
// bytes, not packets. Pooled: start() makes it new. Times are microseconds of the local clock, low 32 bits,
// as they travel.
class SendHalf {
 public:
  // Empties a reused half; start() may follow later (an answer that is not there yet).
  void prepare();
  // Begins with `source` (may be null: no bytes, nothing to do). `limit` is the receiver's first flow-control
  // limit.
  void start(TransferSource* source, uint64_t limit, uint32_t now_us);
  bool started() const { return started_; }
  // Nothing more will be sent or awaited.
  bool done() const { return done_; }
  // Bytes sent so far, which the receiver may have counted against the session's limit.
  uint64_t sent_size() const { return next_; }

  // Asks the source what it has by now.
  void refresh(uint32_t now_us);
  void raise_limit(uint64_t limit, uint32_t now_us);
  // The transfer got another rank: nobody can blame it for what happened before.
  void on_rerank(uint32_t now_us);

  // Something may be cut when the session lets `session_room` new bytes go.
  bool sendable(uint64_t session_room) const;
  bool has_lost() const { return !lost_.empty() || end_lost_; }
  // Waits for the session's limit only.
  bool blocked_by_session(uint64_t session_room) const {
    return !sendable(session_room) && sendable(UINT64_MAX);
  }

  struct Cut {
    uint64_t offset = 0;
    uint16_t length = 0;
    bool end = false;  // the half's last byte is in it (or the half is empty)
    bool retransmission = false;
    uint32_t accept_time_us = 0;  // since when its last byte could have been sent
    uint64_t new_bytes = 0;       // count against the session's limit
  };
  // Names the next piece of at most `room` bytes: lost ones first. Only when sendable.
  Cut cut(uint16_t room, uint64_t session_room);
  void read(const Cut& cut, MutableByteSpan out) { source_->read(cut.offset, out); }

  void on_acked(uint64_t offset, uint32_t length, bool end);
  void on_lost(uint64_t offset, uint32_t length, bool end);

  // Stops at once and tells the source why; the half then has nothing to send.
  void abort(StreamEnd why, uint32_t code);

 private:
  // Bytes up to `end` could be sent from `since_us` on. A source that fills slowly makes several marks; when
  // they run out the newest time stands for older bytes too, so that none looks older than it is.
  struct Mark {
    uint64_t end = 0;
    uint32_t since_us = 0;
  };
  static constexpr size_t kMostMarks = 4;

  uint64_t sendable_end() const { return available_ < limit_ ? available_ : limit_; }
  void mark(uint32_t now_us);
  uint32_t accept_time_of(uint64_t end) const;
  void finish_if_complete();

  TransferSource* source_ = nullptr;
  uint64_t available_ = 0;
  uint64_t next_ = 0;
  uint64_t limit_ = 0;
  RangeSet acked_;
  RangeSet lost_;
  std::array<Mark, kMostMarks> marks_{};
  uint8_t marks_used_ = 0;
  bool finished_ = false;  // available_ is the final size
  bool started_ = false;
  bool done_ = false;
  bool end_sent_ = false;
  bool end_lost_ = false;
  bool end_acked_ = false;
};

}  // namespace tictac
