#include "control/cli/command_line.h"

#include <iostream>
#include <utility>

namespace tictac::cli {
namespace {

constexpr int kFailure = 1;
constexpr int kWrongUse = 2;

}  // namespace

CommandLine::CommandLine(const std::string& description) : app_(description, "tictac") {
  app_.require_subcommand(1);
  app_.set_version_flag("--version", TICTAC_VERSION);
  app_.get_formatter()->column_width(34);
}

CLI::App& CommandLine::add(const std::string& name, const std::string& summary,
                           std::function<absl::Status()> body) {
  CLI::App* command = app_.add_subcommand(name, summary);
  command->callback([this, body = std::move(body)] { result_ = body(); });
  return *command;
}

int CommandLine::run(int argc, char** argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app_.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    std::cerr << app_.get_name() << ": " << error.what() << " (see --help)\n";
    return kWrongUse;
  }
  if (result_.ok()) return 0;
  std::cerr << app_.get_name() << ": " << result_.message() << '\n';
  return kFailure;
}

}  // namespace tictac::cli
