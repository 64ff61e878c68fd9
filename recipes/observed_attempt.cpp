// SPDX-License-Identifier: Apache-2.0
#include "recipes/observed_attempt.h"

#include <utility>

namespace zkrecipes::detail {

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> next{1};
  return next++;
}

}  // namespace

std::shared_ptr<ObservedAttempt> ObservedAttempt::make(const std::shared_ptr<Client>& client, const LockInfoPtr& lock) {
  return lock ? std::make_shared<ObservedAttempt>(client, lock) : nullptr;
}

ObservedAttempt::ObservedAttempt(const std::shared_ptr<Client>& client, LockInfoPtr lock)
    : client_(client),
      lock_(std::move(lock)),
      id_(next_id()),
      began_(client->world().now()),
      feed_(client->observer(), client->log()) {}

std::shared_ptr<ObservedAttempt> ObservedAttempt::downgraded() const {
  LockInfo info = *lock_;
  info.mode = LockMode::read;
  return std::make_shared<ObservedAttempt>(client_, std::make_shared<const LockInfo>(std::move(info)));
}

void ObservedAttempt::waiting(int queue_position) {
  feed_.record(LockWaiting{base(), queue_position});
}

void ObservedAttempt::acquired(const FencingToken& token, const AcquisitionCost& cost, int permits) {
  begin_hold({base(), token, cost, permits, false});
}

void ObservedAttempt::acquired_by_downgrade(const FencingToken& token) {
  begin_hold({base(), token, {}, 1, true});
}

void ObservedAttempt::begin_hold(LockAcquired event) {
  held_since_ = client_->world().now();
  token_ = event.token;
  feed_.record(std::move(event));
}

void ObservedAttempt::not_acquired(AcquireStatus status) {
  feed_.record(LockNotAcquired{base(), status, client_->world().now() - began_});
}

void ObservedAttempt::released() {
  if (end_hold()) feed_.record(LockReleased{base(), token_, client_->world().now() - held_since_});
}

void ObservedAttempt::lost(LossReason reason, const std::string& text) {
  if (end_hold()) feed_.record(LockLost{base(), token_, reason, text, client_->world().now() - held_since_});
}

}  // namespace zkrecipes::detail
