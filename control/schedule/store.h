#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sqlite3.h>

#include "absl/status/statusor.h"
#include "control/schedule/registry.h"

namespace tictac {

// Schedules on disk: SQLite in WAL mode, synced at every push, so that what was acknowledged survives kill -9
// and a power cut. Keeps the last kMostVersionsKept versions of each job. One thread at a time.
class Store {
 public:
  struct Saved {
    SchedulePtr schedule;
    int64_t pushed_ms = 0;
  };

  // Opens or makes the file. One that is no database, or is broken, is set aside as PATH.broken-N, told in
  // `set_aside`, and a new one is made.
  static absl::StatusOr<Store> open(const std::string& path, std::string* set_aside);

  absl::Status save(const control::Schedule& schedule, int64_t pushed_ms);
  // The newest of each job.
  absl::StatusOr<std::vector<Saved>> load_newest();

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  explicit Store(std::string path) : path_(std::move(path)) {}
  absl::Status open_database();
  absl::Status run(const char* sql);
  absl::Status fault(const char* doing) const;

  std::string path_;
  std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace tictac
