// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <libpq-fe.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace comparison {

/// One connection to PostgreSQL, made again when it is found broken. Used by one thread, statements() excepted.
class PostgresSession {
 public:
  /// `endpoint`: "host:port". Throws std::runtime_error if nobody answers there.
  explicit PostgresSession(const std::string& endpoint);

  /// Executes and returns the number of rows that were returned or changed; empty if the connection broke, which is
  /// made again before the next call. Throws std::runtime_error when the server says that the statement is wrong.
  std::optional<int> execute(const std::string& sql, const std::vector<std::string>& parameters = {});

  /// Whether the connection stands, as far as its socket tells.
  bool is_connected();
  long statements() const noexcept { return statements_; }

 private:
  bool connect();

  const std::string settings_;
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_{nullptr, &PQfinish};
  std::atomic<long> statements_{0};
};

}  // namespace comparison
