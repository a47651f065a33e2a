#include "control/cli/daemon_options.h"

#include "control/schedule/socket_owner.h"

namespace tictac::cli {

void DaemonOptions::add_to(CLI::App& command) {
  socket = runtime_folder() + "/tictacd.sock";
  command.add_option("--socket", socket, "Unix socket of tictacd")->capture_default_str()->type_name("PATH");
}

}  // namespace tictac::cli
