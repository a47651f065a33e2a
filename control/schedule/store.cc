#include "control/schedule/store.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "control/schedule/schedule_limits.h"

namespace tictac {
namespace {

constexpr int kBusyMs = 2000;

using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

Statement prepare(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, sql, -1, &statement, nullptr);
  return {statement, sqlite3_finalize};
}

// A name that is free; a broken file is never overwritten.
std::string free_name(const std::string& path) {
  for (int n = 1;; ++n) {
    const std::string name = absl::StrCat(path, ".broken-", n);
    if (!std::filesystem::exists(name)) return name;
  }
}

}  // namespace

absl::Status Store::fault(const char* doing) const {
  const char* text = db_ ? sqlite3_errmsg(db_.get()) : "out of memory";
  const int code = db_ ? sqlite3_errcode(db_.get()) : SQLITE_NOMEM;
  const std::string message = absl::StrCat(path_, ": ", doing, ": ", text);
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? absl::DataLossError(message)
                                                         : absl::UnavailableError(message);
}

absl::Status Store::run(const char* sql) {
  return sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK ? absl::OkStatus()
                                                                              : fault("setting up");
}

absl::Status Store::open_database() {
  sqlite3* db = nullptr;
  const int opened = sqlite3_open_v2(
      path_.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(db);
  if (opened != SQLITE_OK) return fault("opening");
  sqlite3_busy_timeout(db, kBusyMs);
  const absl::Status ready =
      run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
          "CREATE TABLE IF NOT EXISTS schedules (job TEXT NOT NULL, version INTEGER NOT NULL, pushed_ms "
          "INTEGER NOT NULL,"
          " body BLOB NOT NULL, PRIMARY KEY (job, version));");
  if (!ready.ok()) return ready;
  const Statement check = prepare(db, "PRAGMA quick_check(1)");
  if (!check || sqlite3_step(check.get()) != SQLITE_ROW) return fault("checking");
  const auto* verdict = reinterpret_cast<const char*>(sqlite3_column_text(check.get(), 0));
  if (!verdict || std::strcmp(verdict, "ok") != 0)
    return absl::DataLossError(absl::StrCat(path_, ": ", verdict ? verdict : "broken"));
  return absl::OkStatus();
}

absl::StatusOr<Store> Store::open(const std::string& path, std::string* set_aside) {
  Store store(path);
  absl::Status opened = store.open_database();
  if (absl::IsDataLoss(opened)) {
    store.db_.reset();
    const std::string aside = free_name(path);
    if (std::rename(path.c_str(), aside.c_str()) != 0) {
      return absl::UnavailableError(
          absl::StrCat(path, " is broken and cannot be set aside: ", std::strerror(errno)));
    }
    for (const char* suffix : {"-wal", "-shm"}) std::remove(absl::StrCat(path, suffix).c_str());
    *set_aside = aside;
    opened = store.open_database();
  }
  if (!opened.ok()) return opened;
  return store;
}

absl::Status Store::save(const control::Schedule& schedule, int64_t pushed_ms) {
  const absl::Status begun = run("BEGIN IMMEDIATE");
  if (!begun.ok()) return begun;
  absl::Cleanup roll_back = [this] { sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr); };
  const std::string body = schedule.SerializeAsString();
  const Statement insert = prepare(db_.get(), "INSERT INTO schedules VALUES (?, ?, ?, ?)");
  if (!insert) return fault("saving");
  sqlite3_bind_text(insert.get(), 1, schedule.job().data(), static_cast<int>(schedule.job().size()),
                    SQLITE_STATIC);
  sqlite3_bind_int64(insert.get(), 2, static_cast<sqlite3_int64>(schedule.version()));
  sqlite3_bind_int64(insert.get(), 3, pushed_ms);
  sqlite3_bind_blob64(insert.get(), 4, body.data(), body.size(), SQLITE_STATIC);
  if (sqlite3_step(insert.get()) != SQLITE_DONE) return fault("saving");
  const Statement trim = prepare(db_.get(), "DELETE FROM schedules WHERE job = ? AND version <= ?");
  if (!trim) return fault("saving");
  sqlite3_bind_text(trim.get(), 1, schedule.job().data(), static_cast<int>(schedule.job().size()),
                    SQLITE_STATIC);
  sqlite3_bind_int64(
      trim.get(), 2,
      static_cast<sqlite3_int64>(schedule.version()) - static_cast<sqlite3_int64>(kMostVersionsKept));
  if (sqlite3_step(trim.get()) != SQLITE_DONE) return fault("saving");
  const absl::Status committed = run("COMMIT");
  if (committed.ok()) std::move(roll_back).Cancel();
  return committed;
}

absl::StatusOr<std::vector<Store::Saved>> Store::load_newest() {
  const Statement select = prepare(db_.get(),
                                   "SELECT body, pushed_ms FROM schedules s WHERE version = (SELECT "
                                   "MAX(version) FROM schedules WHERE job = s.job) ORDER BY job");
  if (!select) return fault("reading");
  std::vector<Saved> all;
  int state = SQLITE_ROW;
  while ((state = sqlite3_step(select.get())) == SQLITE_ROW) {
    auto schedule = std::make_shared<control::Schedule>();
    const int size = sqlite3_column_bytes(select.get(), 0);
    if (!schedule->ParseFromArray(sqlite3_column_blob(select.get(), 0), size)) {
      return absl::DataLossError(absl::StrCat(path_, ": a schedule cannot be read"));
    }
    all.push_back({std::move(schedule), sqlite3_column_int64(select.get(), 1)});
  }
  if (state != SQLITE_DONE) return fault("reading");
  return all;
}

}  // namespace tictac
