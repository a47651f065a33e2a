#include "dataplane/transport/stream/send_half.h"

#include <algorithm>
#include <utility>

namespace tictac {

void SendHalf::prepare() {
  source_ = nullptr;
  next_ = limit_ = 0;
  acked_.clear();
  lost_.clear();
  accept_time_us_ = 0;
  started_ = done_ = end_sent_ = end_lost_ = end_acked_ = false;
}

void SendHalf::start(TransferSource* source, uint64_t limit, uint32_t accept_time_us) {
  prepare();
  source_ = source;
  limit_ = limit;
  accept_time_us_ = accept_time_us;
  started_ = true;
  done_ = source == nullptr;
}

bool SendHalf::sendable(uint64_t session_room) const {
  if (done_ || !started_) return false;
  if (has_lost()) return true;
  const uint64_t available = source_->available();
  if (next_ < std::min(available, limit_)) return session_room > 0;
  return next_ == available && !end_sent_ && source_->finished();
}

SendHalf::Cut SendHalf::cut(uint16_t room, uint64_t session_room) {
  Cut cut;
  const bool finished = source_->finished();
  const uint64_t available = source_->available();
  if (!lost_.empty()) {
    const ByteRange range = lost_.front();
    cut.offset = range.begin;
    cut.length = static_cast<uint16_t>(std::min<uint64_t>(range.size(), room));
    cut.retransmission = true;
    lost_.remove({cut.offset, cut.offset + cut.length});
  } else if (end_lost_) {
    cut.offset = next_;
    cut.retransmission = true;
  } else {
    cut.offset = next_;
    const uint64_t ready = std::min(available, limit_) - std::min(next_, std::min(available, limit_));
    cut.length = static_cast<uint16_t>(std::min({ready, session_room, uint64_t{room}}));
    cut.new_bytes = cut.length;
    next_ += cut.length;
  }
  cut.end = finished && next_ == available && cut.offset + cut.length == available;
  if (cut.end) {
    end_sent_ = true;
    end_lost_ = false;
  }
  return cut;
}

void SendHalf::on_acked(uint64_t offset, uint32_t length, bool end) {
  if (done_) return;
  const uint64_t before = acked_.end_of_run(0);
  acked_.add({offset, offset + length});
  lost_.remove({offset, offset + length});
  if (end) {
    end_acked_ = true;
    end_lost_ = false;
  }
  const uint64_t after = acked_.end_of_run(0);
  if (after > before) source_->on_acked(after);
  finish_if_complete();
}

void SendHalf::on_lost(uint64_t offset, uint32_t length, bool end) {
  if (done_) return;
  // Only what no other packet has brought meanwhile.
  uint64_t at = offset;
  const uint64_t stop = offset + length;
  while (at < stop) {
    const uint64_t run = acked_.end_of_run(at);
    if (run > at) {
      at = run;
      continue;
    }
    uint64_t next = stop;
    for (const ByteRange& range : acked_.ranges()) {
      if (range.begin > at) {
        next = std::min(next, range.begin);
        break;
      }
    }
    lost_.add({at, next});
    at = next;
  }
  if (end && !end_acked_) end_lost_ = true;
}

void SendHalf::finish_if_complete() {
  if (!end_acked_ || acked_.end_of_run(0) != next_) return;
  done_ = true;
  std::exchange(source_, nullptr)->on_done(StreamEnd::kComplete, 0);
}

void SendHalf::abort(StreamEnd why, uint32_t code) {
  if (!started_ || done_) {
    started_ = done_ = true;
    return;
  }
  done_ = true;
  lost_.clear();
  std::exchange(source_, nullptr)->on_done(why, code);
}

}  // namespace tictac
