// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/comparison/locks/lock.h"
#include "bench/comparison/locks/postgres_session.h"

namespace comparison {

/// `SELECT ... FOR UPDATE` on the row of that name: held as long as the transaction is open, and so as long as the
/// connection stands.
class PostgresRowLock : public Lock {
 public:
  PostgresRowLock(const std::string& endpoint, std::string name);
  void acquire() override;
  bool release() override;
  bool is_held() override;
  std::optional<long> requests() const noexcept override { return session_.statements(); }

 private:
  const std::string name_;
  PostgresSession session_;
  bool held_ = false;
};

}  // namespace comparison
