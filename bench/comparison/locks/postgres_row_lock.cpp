// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/locks/postgres_row_lock.h"

#include <utility>

namespace comparison {

PostgresRowLock::PostgresRowLock(const std::string& endpoint, std::string name)
    : name_(std::move(name)), session_(endpoint) {
  session_.execute("INSERT INTO row_locks VALUES ($1) ON CONFLICT DO NOTHING", {name_});
}

void PostgresRowLock::acquire() {
  held_ = false;
  while (!held_)
    held_ =
        session_.execute("BEGIN") && session_.execute("SELECT name FROM row_locks WHERE name = $1 FOR UPDATE", {name_});
}

bool PostgresRowLock::release() {
  // On a connection that was made again there is no transaction to commit, and the lock was lost with the old one.
  const bool held = is_held();
  held_ = false;
  return held && session_.execute("COMMIT").has_value();
}

bool PostgresRowLock::is_held() {
  return held_ && session_.is_connected();
}

}  // namespace comparison
