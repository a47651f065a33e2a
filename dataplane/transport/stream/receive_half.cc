#include "dataplane/transport/stream/receive_half.h"

#include <algorithm>
#include <utility>

namespace tictac {
namespace {

constexpr uint64_t kUnwantedWindow = 64 * 1024;  // lets a sender go on whose bytes nobody wants

}  // namespace

void ReceiveHalf::start(TransferSink* sink, uint64_t limit) {
  sink_ = sink;
  received_.clear();
  highest_ = count_ = 0;
  advertised_ = limit;
  final_size_.reset();
  done_ = false;
}

bool ReceiveHalf::agrees(uint64_t end, bool is_final) const {
  if (final_size_) return is_final ? end == *final_size_ : end <= *final_size_;
  return !is_final || end >= highest_;
}

ReceiveHalf::Result ReceiveHalf::on_bytes(uint64_t offset, ByteSpan bytes, bool end) {
  if (done_) return Result::kOk;
  const uint64_t stop = offset + bytes.size();
  if (stop > advertised_) return Result::kBeyondLimit;
  if (!agrees(stop, end)) return Result::kBadFinalSize;
  if (received_.count() >= kMostRanges && !received_.contains(offset) && received_.end_of_run(0) != offset) {
    return Result::kTooManyHoles;
  }
  if (end) final_size_ = stop;
  highest_ = std::max(highest_, stop);
  const uint64_t before = received_.end_of_run(0);
  received_.add({offset, stop}, [&](ByteRange fresh) {
    count_ += fresh.size();
    if (sink_) sink_->write(fresh.begin, bytes.subspan(fresh.begin - offset, fresh.size()));
  });
  const uint64_t after = received_.end_of_run(0);
  if (after > before && sink_) sink_->on_progress(after);
  finish_if_complete();
  return Result::kOk;
}

void ReceiveHalf::finish_if_complete() {
  if (done_ || !final_size_ || received_.end_of_run(0) != *final_size_) return;
  done_ = true;
  if (TransferSink* sink = std::exchange(sink_, nullptr))
    sink->on_done(StreamEnd::kComplete, *final_size_, 0);
}

ReceiveHalf::Result ReceiveHalf::on_reset(uint64_t final_size, uint32_t code) {
  if (done_) return Result::kOk;
  if (final_size > advertised_) return Result::kBeyondLimit;
  if (!agrees(final_size, true) || final_size < highest_) return Result::kBadFinalSize;
  highest_ = final_size;
  final_size_ = final_size;
  abort(StreamEnd::kReset, code);
  return Result::kOk;
}

std::optional<uint64_t> ReceiveHalf::new_limit() {
  if (done_ || final_size_) return std::nullopt;
  const uint64_t wanted = sink_ ? sink_->limit() : highest_ + kUnwantedWindow;
  if (wanted <= advertised_) return std::nullopt;
  // Told when half of the window is used, so that a sink which grows in small steps costs few frames. The
  // question is put again with every byte that comes, so the sender never waits for an answer not given.
  const uint64_t window = wanted - received_.end_of_run(0);
  if ((advertised_ - highest_) > window / 2) return std::nullopt;
  advertised_ = wanted;
  return advertised_;
}

void ReceiveHalf::stop(StreamEnd why, uint32_t code) {
  if (TransferSink* sink = std::exchange(sink_, nullptr)) sink->on_done(why, highest_, code);
}

void ReceiveHalf::abort(StreamEnd why, uint32_t code) {
  done_ = true;
  stop(why, code);
}

}  // namespace tictac
