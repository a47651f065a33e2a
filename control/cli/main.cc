#include "control/cli/command_line.h"

int main(int argc, char** argv) {
  tictac::cli::CommandLine command_line(
      "TicTac: parameters arrive in the order in which the model needs them");
  return command_line.run(argc, argv);
}
