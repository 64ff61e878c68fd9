// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/comparison/locks/lock.h"
#include "bench/comparison/locks/postgres_session.h"

namespace comparison {

/// The client that inserts the row with the unique name holds the lock, until it deletes the row.
class PostgresInsertLock : public Lock {
 public:
  PostgresInsertLock(const std::string& endpoint, std::string name);
  ~PostgresInsertLock() override;
  void acquire() override;
  bool release() override;
  bool is_held() override { return held_; }  // nothing ever tells otherwise
  std::optional<long> requests() const noexcept override { return session_.statements(); }

 private:
  const std::string name_;
  const std::string owner_;
  PostgresSession session_;
  bool held_ = false;
};

}  // namespace comparison
