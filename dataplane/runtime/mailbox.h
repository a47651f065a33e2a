#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "dataplane/base/clock.h"
#include "dataplane/base/spsc_ring.h"
#include "dataplane/runtime/doorbell.h"
#include "dataplane/runtime/lcore_task.h"

namespace tictac {

// Control threads hand work to the lcore: small functions that run there, in order, between packets. The
// lcore neither allocates nor frees: what has run goes back through a second ring and is deleted by the next
// sender. Bounded: a full mailbox refuses.
class Mailbox : public LcoreTask {
 public:
  explicit Mailbox(size_t capacity = 256);
  ~Mailbox() override;

  // Any thread but the lcore. `work` is called as work(Time now) on the lcore, must not block, and is
  // destroyed on a sending thread. False when the mailbox is full or closed: then it is not called.
  template <std::invocable<Time> F>
  bool post(F work) {
    return post_command(std::make_unique<Function<F>>(std::move(work)));
  }

  // As post(), but waits until `work` has run, at most for `limit` of real time. False: it has not run yet,
  // and then never will, so `work` may refer to the caller's variables.
  template <std::invocable<Time> F>
  bool call(Duration limit, F work) {
    Call shared;
    return post([ticket = shared.ticket(), work = std::move(work)](Time now) mutable {
             if (!ticket.claim()) return;
             work(now);
             ticket.done();
           }) &&
           shared.wait(limit);
  }

  // LcoreTask.
  size_t poll(Time now) override;
  Time next_deadline() const override { return kNever; }
  bool prepare_to_sleep() override {
    return doorbell_.prepare_to_sleep([this] { return ring_.empty(); });
  }
  void resume() override { doorbell_.resume(); }
  int wake_fd() const override { return doorbell_.fd(); }

 private:
  struct Command {
    virtual ~Command() = default;
    virtual void run(Time now) = 0;
  };
  template <typename F>
  struct Function : Command {
    explicit Function(F f) : work(std::move(f)) {}
    void run(Time now) override { work(now); }
    F work;
  };
  // One call: waiting until the lcore claims it, running, done; or given up before it was claimed.
  class Call {
   public:
    enum class State : uint8_t { kWaiting, kRunning, kDone, kGivenUp };
    struct Shared {
      std::atomic<State> state{State::kWaiting};
    };
    class Ticket {
     public:
      explicit Ticket(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
      bool claim();
      void done();

     private:
      std::shared_ptr<Shared> shared_;
    };
    Ticket ticket() const { return Ticket(shared_); }
    bool wait(Duration limit);

   private:
    std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  };

  bool post_command(std::unique_ptr<Command> command);

  std::mutex senders_;
  SpscRing<std::unique_ptr<Command>> ring_;
  SpscRing<std::unique_ptr<Command>> used_;
  Doorbell doorbell_;
};

}  // namespace tictac
