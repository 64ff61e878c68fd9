// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "connection/client.h"
#include "recipes/waiting_call.h"

namespace zkrecipes::detail {

/// A blocking call about one path that is not an acquire. Has its deadline and the errors that end it. A request whose
/// answer is not waited for any more stays with the client, which drops the answer.
class BoundedCall {
 public:
  /// Throws std::invalid_argument if `path` is no absolute node path, what check_may_block() throws, and
  /// Error(timed_out) when the deadline has passed. `what`: "contenders of /locks/a", for messages.
  /// `answer_limit`: how long a single wait may last.
  BoundedCall(std::shared_ptr<Client> client, const std::string& path, std::string what, Clock::time_point deadline,
              std::optional<std::chrono::milliseconds> answer_limit = std::nullopt);

  const std::shared_ptr<Client>& client() const { return client_; }

  /// Waits until there is a session that is connected. Throws Error(timed_out), or the error of a closed connection.
  SessionPtr session() const;

  /// Waits for the answer. `wanted`: "the list of /locks/a". Throws Error(timed_out).
  template <class Answer>
  Answer wait(const WaitingCall<Answer>& call, const std::string& wanted) const {
    std::optional<Answer> answer = call.wait_until(end_of_wait());
    if (!answer) throw_timed_out(wanted);
    return std::move(*answer);
  }

  /// Throws the error for an answer that ends the call.
  [[noreturn]] void fail(Status status) const;

 private:
  Clock::time_point end_of_wait() const;
  [[noreturn]] void throw_timed_out(const std::string& wanted) const;

  const std::shared_ptr<Client> client_;
  const std::string path_;
  const std::string what_;
  const Clock::time_point deadline_;
  const std::optional<std::chrono::milliseconds> answer_limit_;
};

}  // namespace zkrecipes::detail
