#include <poll.h>
#include <sys/signalfd.h>

#include <array>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "ps_proxy/client/stats.h"
#include "ps_proxy/config/proxy_config.h"
#include "ps_proxy/relay_main.h"
#include "ps_proxy/sidecar.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

namespace tictac {
namespace {

constexpr int kFailure = 1;
constexpr int kWrongUse = 2;

struct Options {
  std::string config;
  std::vector<std::string> overrides;
  bool check = false;
  bool relay = false;
  std::optional<std::string> stats;
};

int fail(const std::string& why) {
  std::cerr << "tictac-proxy: " << why << '\n';
  return kFailure;
}

void set_up_log(const ProxyConfig& config) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("tictac-proxy"));
  spdlog::set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %v");
  switch (config.log_level) {
    case ProxyConfig::LogLevel::kDebug:
      return spdlog::set_level(spdlog::level::debug);
    case ProxyConfig::LogLevel::kInfo:
      return spdlog::set_level(spdlog::level::info);
    case ProxyConfig::LogLevel::kWarning:
      return spdlog::set_level(spdlog::level::warn);
    case ProxyConfig::LogLevel::kError:
      return spdlog::set_level(spdlog::level::err);
  }
}

// Signals come through a descriptor, on the control thread only: blocked before any other thread starts.
native::Fd block_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return native::Fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

// False: the process should end.
bool handle_signals(int fd, Sidecar& sidecar) {
  signalfd_siginfo info{};
  while (read(fd, &info, sizeof(info)) == sizeof(info)) {
    if (info.ssi_signo == SIGUSR1) {
      std::cerr << sidecar.statistics() << std::endl;
    } else if (info.ssi_signo != SIGHUP) {
      return false;
    }
  }
  return true;
}

int run_sidecar(const ProxyConfig& config, const native::Fd& signals) {
  auto sidecar = Sidecar::start(config);
  if (!sidecar.ok()) return fail(std::string(sidecar.status().message()));
  spdlog::info("{} runs at {}, native socket {}", config.name, format_address(config.address),
               config.native.socket);
  std::array<pollfd, 2> fds{{{signals.get(), POLLIN, 0}, {(*sidecar)->fd(), POLLIN, 0}}};
  const int tick = config.completion_log.empty() ? -1 : static_cast<int>(Sidecar::kTick / 1ms);
  do {
    poll(fds.data(), fds.size(), tick);
    (*sidecar)->handle_ready();
  } while (handle_signals(signals.get(), **sidecar));
  spdlog::info("{} stops", config.name);
  return 0;
}

int print_stats(const std::string& socket) {
  std::string document;
  if (native::read_stats(socket, &document) != TICTAC_OK) return fail(tictac_error());
  std::cout << document << '\n';
  return 0;
}

int run(const Options& options) {
  if (options.stats) return print_stats(*options.stats);
  const auto config =
      load_config(options.config, options.overrides, options.relay ? ConfigUse::kRelay : ConfigUse::kSidecar);
  if (!config.ok()) return fail(std::string(config.status().message()));
  if (options.check) {
    std::cout << options.config << ": ok\n";
    return 0;
  }
  set_up_log(*config);
  const native::Fd signals = block_signals();
  return options.relay ? run_relay(*config, signals.get()) : run_sidecar(*config, signals);
}

}  // namespace
}  // namespace tictac

int main(int argc, char** argv) {
  tictac::Options options;
  CLI::App app("TicTac's sidecar: carries tensors between hosts in the order in which the model needs them",
               "tictac-proxy");
  app.set_version_flag("--version", TICTAC_VERSION);
  auto* config =
      app.add_option(
             "--config", options.config,
             "configuration; examples and config.proto, which explains every field: configs/, share/tictac")
          ->type_name("FILE");
  app.add_option("--set", options.overrides, "path=value, instead of what the file says; any number of times")
      ->type_name("PATH=VALUE")
      ->needs(config)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--check", options.check, "only validates the configuration (a relay's: with --relay)")
      ->needs(config);
  app.add_flag("--relay", options.relay,
               "joins two ports and re-orders between them (relay in the configuration)")
      ->needs(config);
  auto* stats = app.add_option("--stats", options.stats,
                               "prints the statistics of the proxy at this native socket, one line of JSON")
                    ->type_name("SOCKET")
                    ->excludes(config);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    std::cerr << "tictac-proxy: " << error.what() << " (see --help)\n";
    return tictac::kWrongUse;
  }
  if (config->empty() && stats->empty()) {
    std::cerr << "tictac-proxy: --config FILE is needed (see --help)\n";
    return tictac::kWrongUse;
  }
  return tictac::run(options);
}
