#include "dataplane/transport/stream/send_half.h"

#include <algorithm>
#include <utility>

namespace tictac {

void SendHalf::prepare() {
  source_ = nullptr;
  available_ = next_ = limit_ = 0;
  acked_.clear();
  lost_.clear();
  marks_used_ = 0;
  finished_ = started_ = done_ = end_sent_ = end_lost_ = end_acked_ = false;
}

void SendHalf::start(TransferSource* source, uint64_t limit, uint32_t now_us) {
  prepare();
  source_ = source;
  limit_ = limit;
  started_ = true;
  done_ = source == nullptr;
  refresh(now_us);
}

void SendHalf::refresh(uint32_t now_us) {
  if (!source_ || finished_) return;
  // In this order: a source that ends between the two calls ends at the next refresh.
  finished_ = source_->finished();
  available_ = std::max(available_, source_->available());
  mark(now_us);
}

void SendHalf::raise_limit(uint64_t limit, uint32_t now_us) {
  limit_ = std::max(limit_, limit);
  mark(now_us);
}

void SendHalf::mark(uint32_t now_us) {
  const uint64_t end = sendable_end();
  if (marks_used_ > 0 && end <= marks_[marks_used_ - 1].end) return;
  if (marks_used_ == kMostMarks && marks_[0].end <= acked_.end_of_run(0)) {
    std::copy(marks_.begin() + 1, marks_.end(), marks_.begin());
    --marks_used_;
  }
  if (marks_used_ < kMostMarks) ++marks_used_;
  marks_[marks_used_ - 1] = {end, now_us};
}

void SendHalf::on_rerank(uint32_t now_us) {
  for (size_t i = 0; i < marks_used_; ++i) marks_[i].since_us = now_us;
}

uint32_t SendHalf::accept_time_of(uint64_t end) const {
  size_t i = 0;
  while (i + 1 < marks_used_ && marks_[i].end < end) ++i;
  return marks_[i].since_us;
}

bool SendHalf::sendable(uint64_t session_room) const {
  if (done_ || !started_) return false;
  if (has_lost()) return true;
  if (next_ < sendable_end()) return session_room > 0;
  return finished_ && next_ == available_ && !end_sent_;
}

SendHalf::Cut SendHalf::cut(uint16_t room, uint64_t session_room) {
  Cut cut;
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
    cut.length = static_cast<uint16_t>(std::min({sendable_end() - next_, session_room, uint64_t{room}}));
    cut.new_bytes = cut.length;
    next_ += cut.length;
  }
  const uint64_t stop = cut.offset + cut.length;
  cut.accept_time_us = accept_time_of(stop);
  cut.end = finished_ && next_ == available_ && stop == available_;
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
  if (!lost_.empty()) lost_.remove({offset, offset + length});
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
  acked_.for_each_missing({offset, offset + length}, [this](ByteRange missing) { lost_.add(missing); });
  if (end && !end_acked_) end_lost_ = true;
}

void SendHalf::finish_if_complete() {
  if (done_ || !end_acked_ || acked_.end_of_run(0) != next_) return;
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
  end_lost_ = false;
  std::exchange(source_, nullptr)->on_done(why, code);
}

}  // namespace tictac
