#include "control/cli/command_line.h"
#include "control/cli/commands.h"

int main(int argc, char** argv) {
  tictac::cli::CommandLine command_line(
      "TicTac: parameters arrive in the order in which the model needs them");
  tictac::cli::add_order_command(command_line);
  tictac::cli::add_simulate_command(command_line);
  tictac::cli::add_replay_command(command_line);
  tictac::cli::add_push_command(command_line);
  tictac::cli::add_status_command(command_line);
  return command_line.run(argc, argv);
}
