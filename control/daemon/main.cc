// tictacd: keeps jobs and schedules, pushes them to the proxies.
#include <signal.h>

#include <iostream>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "control/schedule/server.h"
#include "control/schedule/socket_owner.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace {

absl::Status serve(tictac::ScheduleServer::Config config) {
  // Blocked before any thread starts, so that only sigwait below sees them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const std::string folder = tictac::runtime_folder();
  const bool needs_folder = config.socket.starts_with(folder + "/") || config.state.starts_with(folder + "/");
  const absl::Status made = needs_folder ? tictac::make_runtime_folder(folder) : absl::OkStatus();
  if (!made.ok()) return made;
  const auto server = tictac::ScheduleServer::start(config);
  if (!server.ok()) return server.status();
  spdlog::info("listening at {}, state in {}", config.socket, config.state);
  int signal = 0;
  sigwait(&signals, &signal);
  spdlog::info("ending on signal {}", signal);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("TicTac's control daemon: keeps jobs and schedules, pushes them to the proxies", "tictacd");
  tictac::ScheduleServer::Config config;
  config.socket = absl::StrCat(tictac::runtime_folder(), "/tictacd.sock");
  config.state = absl::StrCat(tictac::runtime_folder(), "/tictacd.db");
  std::string mode = "0600";
  app.add_option("--socket", config.socket, "Unix socket to serve on")
      ->capture_default_str()
      ->type_name("PATH");
  app.add_option("--state", config.state, "SQLite file that keeps jobs and versions")
      ->capture_default_str()
      ->type_name("PATH");
  app.add_option("--mode", mode, "access rights of the socket, octal")
      ->capture_default_str()
      ->type_name("OCTAL")
      ->check([](const std::string& text) {
        const bool octal =
            !text.empty() && text.size() <= 4 && text.find_first_not_of("01234567") == std::string::npos;
        return octal ? std::string() : "\"" + text + "\" is no octal mode like 0660";
      });
  app.set_config("--config", "", "file with any of these options, one name=value a line")->type_name("FILE");
  app.set_version_flag("--version", TICTAC_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    std::cerr << "tictacd: " << error.what() << " (see --help)\n";
    return 2;
  }
  config.mode = static_cast<uint32_t>(std::stoul(mode, nullptr, 8)) & 0777U;
  spdlog::set_default_logger(spdlog::stderr_logger_mt("tictacd"));
  spdlog::set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
  const absl::Status status = serve(config);
  if (status.ok()) return 0;
  std::cerr << "tictacd: " << status.message() << '\n';
  return 1;
}
