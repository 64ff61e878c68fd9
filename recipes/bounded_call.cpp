// SPDX-License-Identifier: Apache-2.0
#include "recipes/bounded_call.h"

#include <algorithm>

#include "recipes/lock_error.h"
#include "zkrecipes/error.h"

namespace zkrecipes::detail {

namespace {

/// Takes the handler back, also when the thread is interrupted while it waits.
class SessionWait {
 public:
  SessionWait(Client& client, Client::SessionHandler done)
      : client_(client), id_(client.await_session(std::move(done))) {}
  ~SessionWait() { client_.cancel_await(id_); }
  SessionWait(const SessionWait&) = delete;
  SessionWait& operator=(const SessionWait&) = delete;

 private:
  Client& client_;
  const AwaitId id_;
};

}  // namespace

BoundedCall::BoundedCall(std::shared_ptr<Client> client, const std::string& path, std::string what,
                         Clock::time_point deadline, std::optional<std::chrono::milliseconds> answer_limit)
    : client_(std::move(client)),
      path_(path),
      what_(std::move(what)),
      deadline_(deadline),
      answer_limit_(answer_limit) {
  check_node_path(path);
  client_->check_may_block();
  if (deadline_ <= client_->world().now())
    throw Error(ErrorCode::timed_out, what_ + ": the deadline had passed before the call");
}

SessionPtr BoundedCall::session() const {
  if (client_->is_connected())
    if (SessionPtr current = client_->current_session()) return current;
  using Found = std::pair<Status, SessionPtr>;
  const WaitingCall<Found> call;
  const SessionWait waiting(
      *client_, [call](Status status, SessionPtr session) { call.deliver(Found(status, std::move(session))); });
  Found found = wait(call, "a connection to the servers");
  if (found.first != Status::ok) fail(found.first);
  return std::move(found.second);
}

Clock::time_point BoundedCall::end_of_wait() const {
  if (!answer_limit_) return deadline_;
  // More than a century would not fit into a time of the clock.
  const auto limit = std::min<std::chrono::milliseconds>(*answer_limit_, std::chrono::hours(24) * 36'500);
  return std::min(deadline_, client_->world().now() + limit);
}

void BoundedCall::fail(Status status) const {
  std::rethrow_exception(lock_error(status, path_, *client_));
}

void BoundedCall::throw_timed_out(const std::string& wanted) const {
  throw Error(ErrorCode::timed_out, what_ + ": the time was over before there was " + wanted);
}

}  // namespace zkrecipes::detail
