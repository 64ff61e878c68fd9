// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/locks/postgres_insert_lock.h"

#include <exception>
#include <utility>

#include "bench/comparison/locks/owner.h"
#include "bench/comparison/locks/polling.h"

namespace comparison {

PostgresInsertLock::PostgresInsertLock(const std::string& endpoint, std::string name)
    : name_(std::move(name)), owner_(make_owner()), session_(endpoint) {}

PostgresInsertLock::~PostgresInsertLock() {
  try {
    if (held_) release();
  } catch (const std::exception&) {  // it stays locked, as with any program that ends so
  }
}

void PostgresInsertLock::acquire() {
  bool answer_lost = false;
  poll_until([&] {
    const auto inserted =
        session_.execute("INSERT INTO insert_locks VALUES ($1, $2) ON CONFLICT DO NOTHING", {name_, owner_});
    if (inserted == 1) return true;
    if (!inserted) answer_lost = true;
    // An insert whose answer was lost may have happened: the row is ours then.
    return answer_lost &&
           session_.execute("SELECT 1 FROM insert_locks WHERE name = $1 AND owner = $2", {name_, owner_}) == 1;
  });
  held_ = true;
}

bool PostgresInsertLock::release() {
  held_ = false;
  for (;;)
    if (const auto deleted =
            session_.execute("DELETE FROM insert_locks WHERE name = $1 AND owner = $2", {name_, owner_}))
      return *deleted == 1;
}

}  // namespace comparison
