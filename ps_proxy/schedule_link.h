#pragma once

#include <string>

#include "control/schedule/watch_client.h"
#include "dataplane/runtime/mailbox.h"
#include "ps_proxy/native/native_gateway.h"

namespace tictac {

// Brings the schedules of tictacd to the gateway: compiles each to a RankTable, puts it in force on the
// lcore, and only then acks it. Without the daemon the last ones stay. Has a thread of its own.
class ScheduleLink {
 public:
  // `socket` is tictacd's. Gateway and mailbox outlive the link.
  ScheduleLink(const std::string& socket, const std::string& proxy, native::NativeGateway& gateway,
               Mailbox& mailbox);

  bool connected() const { return watch_.connected(); }

 private:
  absl::Status put_in_force(const control::Schedule& schedule);

  native::NativeGateway& gateway_;
  Mailbox& mailbox_;
  WatchClient watch_;  // last: its thread uses the others
};

// The schedule as the dataplane takes it. Errors name the entry.
absl::StatusOr<ScheduleEntries> entries_of(const control::Schedule& schedule);

}  // namespace tictac
