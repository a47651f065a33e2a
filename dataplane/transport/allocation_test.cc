// After warm-up nothing is allocated per packet: counted over more than 10^5 packets between two endpoints.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "dataplane/transport/endpoint.h"

namespace {
uint64_t allocations = 0;
}

// Not inlined: compilers else see a free() of what came from new.
// NOLINTBEGIN(misc-new-delete-overloads)
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t size, std::align_val_t align) {
  ++allocations;
  const auto unit = static_cast<size_t>(align);
  if (void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
// NOLINTEND(misc-new-delete-overloads)

namespace tictac {
namespace {

constexpr uint64_t kSize = 60'000;

struct ConstantSource : TransferSource {
  uint64_t available() const override { return kSize; }
  bool finished() const override { return true; }
  void read(uint64_t, MutableByteSpan out) override { std::memset(out.data(), 0x5a, out.size()); }
  void on_acked(uint64_t) override {}
  void on_done(StreamEnd, uint32_t) override {}
};

struct CountingSink : TransferSink {
  uint64_t limit() const override { return kSize; }
  void write(uint64_t, ByteSpan) override {}
  void on_progress(uint64_t) override {}
  void on_done(StreamEnd, uint64_t, uint32_t) override { ++completed; }
  uint64_t completed = 0;
};

struct Side : EndpointEvents {
  Side(const char* name, uint64_t incarnation)
      : endpoint({.name = name, .incarnation = incarnation}, scheduler, *this) {}
  void on_peer_up(PeerId, const PeerUp&) override {}
  void on_peer_down(PeerId, PeerDownReason) override { FAIL(); }
  TransferSink* on_open(StreamRef stream, const OpenParams&) override {
    endpoint.answer(now, stream, &source);
    return nullptr;
  }
  void on_abandoned(StreamRef, uint32_t) override {}

  Time now{};
  ConstantSource source;
  Scheduler scheduler{{}};
  Endpoint endpoint;
};

// One direction of the pipe: a ring of buffers that exist from the start.
struct Pipe {
  struct Slot {
    std::array<uint8_t, 1472> bytes;
    size_t size;
  };
  std::vector<Slot> slots{4096};
  size_t head = 0;
  size_t tail = 0;
  uint64_t count = 0;
};

class Traffic {
 public:
  Traffic() {
    a_.endpoint.add_peer("b", kB, now_);
    b_.endpoint.add_peer("a", kA, now_);
  }
  // Fetches in waves until `packets` more have passed; every `lose_every`th is lost.
  void pass(uint64_t packets, uint64_t lose_every) {
    lose_every_ = lose_every;
    const uint64_t end = passed_ + packets;
    while (passed_ < end) {
      for (uint32_t i = 0; i < 40 && a_.endpoint.peer_is_up(PeerId(0)); ++i) {
        const StreamRef stream =
            a_.endpoint.open(now_, PeerId(0), {.job = "job", .rank = Rank(i)}, nullptr, &sink_);
        opened_ += static_cast<bool>(stream);
        if (i % 4 == 0) a_.endpoint.rerank(stream, Rank(100 + i), ScheduleVersion(0));
      }
      for (int round = 0; round < 2000 && (sink_.completed < opened_ || opened_ == 0); ++round) step();
      ASSERT_EQ(sink_.completed, opened_);
    }
  }

 private:
  static constexpr Address kA{1, 1};
  static constexpr Address kB{2, 2};

  void step() {
    now_ += 50us;
    a_.now = b_.now = now_;
    cut(a_, to_b_);
    cut(b_, to_a_);
    deliver(to_b_, b_, kA);
    deliver(to_a_, a_, kB);
  }
  void cut(Side& side, Pipe& pipe) {
    while (pipe.tail - pipe.head < pipe.slots.size()) {
      Pipe::Slot& slot = pipe.slots[pipe.tail % pipe.slots.size()];
      const auto datagram = side.endpoint.next_datagram(now_, slot.bytes);
      if (!datagram) return;
      slot.size = datagram->size;
      ++pipe.tail;
    }
  }
  void deliver(Pipe& pipe, Side& side, const Address& from) {
    for (; pipe.head < pipe.tail; ++pipe.head) {
      ++passed_;
      if (lose_every_ && ++pipe.count % lose_every_ == 0) continue;
      const Pipe::Slot& slot = pipe.slots[pipe.head % pipe.slots.size()];
      side.endpoint.on_datagram(now_, from, ByteSpan(slot.bytes).first(slot.size));
    }
  }

  Side a_{"a", 1};
  Side b_{"b", 2};
  CountingSink sink_;
  Time now_{1s};
  Pipe to_a_;
  Pipe to_b_;
  uint64_t opened_ = 0;
  uint64_t passed_ = 0;
  uint64_t lose_every_ = 0;
};

TEST(Allocation, NoneAfterWarmUp) {
  Traffic run;
  run.pass(50'000, 0);
  const uint64_t before = allocations;
  ASSERT_GT(before, 0U) << "the counter does not count";
  run.pass(150'000, 0);
  EXPECT_EQ(allocations, before);
}

TEST(Allocation, NoneAfterWarmUpWithLoss) {
  Traffic run;
  run.pass(100'000, 97);
  const uint64_t before = allocations;
  run.pass(150'000, 97);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace tictac
