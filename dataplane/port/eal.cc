#include "dataplane/port/eal.h"

#include <pthread.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/port/dpdk_log.h"
#include "dataplane/port/runtime_folder.h"

namespace tictac {
namespace {

bool started = false;  // main thread only

bool is_valid_prefix(std::string_view prefix) {
  return !prefix.empty() && prefix.size() <= 64 && prefix[0] != '.' &&
         std::ranges::all_of(prefix, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                  c == '-' || c == '.';
         });
}

// The CPUs that this thread may use, "0,1": lcore 0 of DPDK floats over them.
std::string allowed_cpus(const cpu_set_t& set) {
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return absl::StrJoin(cpus, ",");
}

std::vector<std::string> arguments_of(const EalConfig& config, const cpu_set_t& cpus) {
  std::vector<std::string> arguments = {"tictac",
                                        "--no-telemetry",
                                        "--file-prefix",
                                        config.file_prefix,
                                        "--lcores",
                                        absl::StrCat("0@(", allowed_cpus(cpus), ")"),
                                        "-m",
                                        absl::StrCat(config.memory_mb)};
  if (config.no_huge) arguments.emplace_back("--no-huge");
  if (config.pci_devices.empty()) arguments.emplace_back("--no-pci");
  for (const std::string& address : config.pci_devices) {
    arguments.emplace_back("-a");
    arguments.push_back(address);
  }
  return arguments;
}

std::string cure_for(const EalConfig& config) {
  if (config.no_huge) {
    return absl::StrCat("eal.memory_mb is ", config.memory_mb, ": is there that much free memory?");
  }
  return absl::StrCat("huge pages: ", config.memory_mb / 2, " of 2 MiB are needed; get them with: echo ",
                      config.memory_mb / 2,
                      " > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages, or set eal.no_huge");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Eal>> Eal::start(const EalConfig& config) {
  if (started) return absl::FailedPreconditionError("DPDK was started before in this process");
  if (!is_valid_prefix(config.file_prefix)) {
    return absl::InvalidArgumentError(
        absl::StrCat("eal.file_prefix \"", config.file_prefix,
                     "\" must be 1 to 64 letters, digits, '_', '-' or '.', and not begin with '.'"));
  }
  if (absl::Status usable = check_runtime_folder(config.file_prefix); !usable.ok()) return usable;

  // A vhost-user peer that dies while DPDK writes to its socket must not take us along.
  std::signal(SIGPIPE, SIG_IGN);
  DpdkLog::install(config.log, config.log_level);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof cpus, &cpus);
  std::vector<std::string> arguments = arguments_of(config, cpus);
  std::vector<char*> argv;
  argv.reserve(arguments.size());
  for (std::string& argument : arguments) argv.push_back(argument.data());
  const int result = rte_eal_init(static_cast<int>(argv.size()), argv.data());
  pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);  // DPDK has bound it to lcore 0
  started = true;  // after a failure too: DPDK does not start twice
  if (result < 0) {
    // Another process may have taken the folder since it was checked.
    if (absl::Status usable = check_runtime_folder(config.file_prefix); !usable.ok()) return usable;
    return absl::InternalError(absl::StrCat("DPDK does not start: ", rte_strerror(rte_errno), " (",
                                            DpdkLog::last_errors(), "); ", cure_for(config)));
  }
  return std::unique_ptr<Eal>(new Eal());
}

Eal::~Eal() {
  rte_eal_cleanup();
  DpdkLog::uninstall();
}

absl::Status become_lcore(std::optional<uint32_t> cpu) {
  if (cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (*cpu < CPU_SETSIZE) CPU_SET(*cpu, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("eal.lcore: this process may not run on CPU ", *cpu, "; see taskset -cp $$"));
    }
  }
  if (rte_lcore_id() == LCORE_ID_ANY && rte_thread_register() != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("DPDK takes no further lcore thread: ", rte_strerror(rte_errno)));
  }
  return absl::OkStatus();
}

void leave_lcore() {
  if (rte_lcore_id() != LCORE_ID_ANY && rte_lcore_id() != rte_get_main_lcore()) rte_thread_unregister();
}

}  // namespace tictac
