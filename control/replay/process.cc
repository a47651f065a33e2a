#include "control/replay/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tictac::replay {
namespace {

constexpr Duration kStopLimit = 2s;
constexpr useconds_t kStopPoll = 5'000;

std::string last_line(const std::string& log) {
  std::ifstream file(log);
  std::string line;
  std::string last;
  while (std::getline(file, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

// In the child, before anything else: die with the parent.
void tie_to(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
}

}  // namespace

absl::StatusOr<Process> Process::spawn(const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (out < 0) return absl::UnavailableError(absl::StrCat(log, ": ", std::strerror(errno)));
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    tie_to(parent);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execv(argv[0], argv.data());
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], std::strerror(errno));
    _exit(127);
  }
  close(out);
  if (pid < 0) return absl::UnavailableError(absl::StrCat("fork: ", std::strerror(errno)));
  return Process(std::filesystem::path(arguments.front()).filename(), log, pid);
}

absl::StatusOr<Process> Process::fork_into(const std::string& name, const std::function<void()>& body) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    tie_to(parent);
    ::signal(SIGINT, SIG_IGN);  // the parent decides
    body();
    _exit(0);
  }
  if (pid < 0) return absl::UnavailableError(absl::StrCat("fork: ", std::strerror(errno)));
  return Process(name, "", pid);
}

Process::Process(Process&& other) noexcept
    : name_(std::move(other.name_)), log_(std::move(other.log_)), pid_(std::exchange(other.pid_, -1)) {}
Process& Process::operator=(Process&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(log_, other.log_);
  std::swap(pid_, other.pid_);
  return *this;
}
Process::~Process() { stop(kStopLimit); }

absl::Status Process::running() {
  int how = 0;
  if (pid_ < 0) return absl::UnavailableError(absl::StrCat(name_, " is stopped"));
  if (waitpid(pid_, &how, WNOHANG) == 0) return absl::OkStatus();
  pid_ = -1;
  const std::string end = WIFSIGNALED(how) ? absl::StrCat("was killed by signal ", WTERMSIG(how))
                                           : absl::StrCat("ended with code ", WEXITSTATUS(how));
  const std::string last = log_.empty() ? "" : last_line(log_);
  return absl::UnavailableError(absl::StrCat(name_, " ", end, last.empty() ? "" : ": ", last));
}

void Process::signal(int number) const {
  if (pid_ > 0) kill(pid_, number);
}

void Process::stop(Duration limit) {
  if (pid_ < 0) return;
  kill(pid_, SIGTERM);
  for (Duration waited{0}; waited < limit; waited += Duration(kStopPoll * 1us)) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) {
      pid_ = -1;
      return;
    }
    usleep(kStopPoll);
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void sleep_for(Duration span) { usleep(static_cast<useconds_t>(std::max<int64_t>(span / 1us, 0))); }

}  // namespace tictac::replay
