// A busy client and its gateway make no system call per message: counted by the kernel, with a seccomp filter
// that traps every one.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>

#include "ps_proxy/native/test_host.h"

namespace tictac::native {
namespace {

constexpr uint64_t kMessages = 20'000;

// Shared with the child, which may make no system call to report.
struct Report {
  std::atomic<uint64_t> syscalls{0};
  std::atomic<uint64_t> completed{0};
  std::atomic<int> first{-1};
};
Report* report = nullptr;

void on_trap(int, siginfo_t* info, void*) {
  report->syscalls.fetch_add(1);
  int none = -1;
  report->first.compare_exchange_strong(none, info->si_syscall);
}

// From here on every system call of this thread but the return from the handler and the exit is trapped.
bool trap_system_calls() {
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  if (sigaction(SIGSYS, &action, nullptr) != 0) return false;
  std::array<sock_filter, 5> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the number of the call
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Fetches and answers `count` tensors of 0 bytes, 64 at a time; both applications and both gateways on this
// thread.
void exchange(TestPair& pair, tictac_client* requester, tictac_client* server, tictac_name_id name,
              uint64_t count) {
  uint64_t asked = 0;
  uint64_t done = 0;
  tictac_event event;
  while (done < count) {
    while (asked < count && asked - done < 64 &&
           tictac_fetch(requester, name, 0, nullptr, 0, asked) == TICTAC_OK) {
      ++asked;
    }
    pair.now += 50us;
    pair.worker->gateway.poll(pair.now);
    pair.ps->gateway.poll(pair.now);
    pair.carry();
    while (tictac_wait(server, &event, 1, 0) == 1) {
      if (event.kind == TICTAC_EVENT_REQUEST) tictac_answer(server, event.request, nullptr, 0);
    }
    while (tictac_wait(requester, &event, 1, 0) == 1) done += event.kind == TICTAC_EVENT_COMPLETE ? 1 : 0;
  }
  report->completed = done;
}

TEST(SystemCalls, NonePerMessageWhenBusy) {
#ifdef TICTAC_SANITIZED
  GTEST_SKIP() << "sanitizers make system calls of their own";
#endif
  report =
      new (mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Report;
  TestPair pair;
  const TestClient requester = pair.worker->connect("job", pair.now);
  const TestClient server = pair.ps->connect("job", pair.now);
  tictac_name_id wanted = 0;
  tictac_name_id served = 0;
  ASSERT_EQ(tictac_name(requester.get(), "w", &wanted), TICTAC_OK);
  ASSERT_EQ(tictac_name(server.get(), "w", &served), TICTAC_OK);
  ASSERT_EQ(tictac_serve(server.get(), served), TICTAC_OK);
  exchange(pair, requester.get(), server.get(), wanted, kMessages);  // warms every pool up

  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!trap_system_calls()) _exit(77);
    exchange(pair, requester.get(), server.get(), wanted, kMessages);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(report->completed, kMessages);
  // The client library looks at its socket every 10 ms while it finds no event; nothing else may call.
  EXPECT_LE(report->syscalls, kMessages / 1000) << "the first was number " << report->first;
}

}  // namespace
}  // namespace tictac::native
