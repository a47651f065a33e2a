#pragma once

#include "control/cli/command_line.h"

namespace tictac::cli {

// Each adds one subcommand of `tictac`; see *_command.cc.
void add_order_command(CommandLine& command_line);
void add_push_command(CommandLine& command_line);
void add_replay_command(CommandLine& command_line);
void add_simulate_command(CommandLine& command_line);
void add_status_command(CommandLine& command_line);

}  // namespace tictac::cli
