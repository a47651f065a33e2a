#pragma once

#include <functional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace tictac::cli {

// The tool's subcommands and its exit codes: 0 success, 2 wrong use, 1 failure with one line on stderr.
class CommandLine {
 public:
  explicit CommandLine(const std::string& description);

  // Adds a subcommand; the caller adds its options to the returned App (owned here). `body` runs once, after
  // its options were parsed; what its status says is the one line on stderr.
  CLI::App& add(const std::string& name, const std::string& summary, std::function<absl::Status()> body);

  // Parses, runs the body of the subcommand named, returns the exit code.
  int run(int argc, char** argv);

 private:
  CLI::App app_;
  absl::Status result_;
};

}  // namespace tictac::cli
