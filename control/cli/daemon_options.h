#pragma once

#include <string>

#include "CLI/CLI.hpp"

namespace tictac::cli {

// --socket of tictacd, as every command that asks the daemon has it.
struct DaemonOptions {
  std::string socket;

  void add_to(CLI::App& command);
};

}  // namespace tictac::cli
