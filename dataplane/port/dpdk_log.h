#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "dataplane/port/eal.h"

namespace tictac {

// DPDK writes its log to a FILE; this one cuts it into lines, hands them on with their level, and remembers
// the last errors, for the message of what failed because of them. A line that was written lately is not
// written again. Any thread.
class DpdkLog {
 public:
  static void install(std::function<void(DpdkLogLevel, std::string_view)> sink, DpdkLogLevel level);
  static void uninstall();
  // While quiet, errors are kept for last_errors() only: for calls that are made to fail.
  static void be_quiet(bool quiet);
  // A line of our own.
  static void error(std::string_view line);
  // The last error lines since the last call, joined by "; ".
  static std::string last_errors();
};

}  // namespace tictac
