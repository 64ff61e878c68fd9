// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/lock_request.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tools/zklock/exit_codes.h"
#include "tools/zklock/say.h"
#include "tools/zklock/text.h"

namespace zklock {

LockRequest::LockRequest(Session& session, const RunOptions& options) : session_(session), options_(options) {
  zkrecipes::LockOptions lock;
  lock.note = options.note;
  zkrecipes::Connection& connection = session.connection();
  try {
    switch (options.kind) {
      case RunOptions::Kind::exclusive:
        exclusive_ = std::make_unique<zkrecipes::FairMutex>(connection, options.path, lock);
        break;
      case RunOptions::Kind::shared:
        shared_ = std::make_unique<zkrecipes::ReadWriteLock>(connection, options.path, lock);
        break;
      case RunOptions::Kind::semaphore:
        semaphore_ = std::make_unique<zkrecipes::Semaphore>(connection, options.path, options.permits, lock);
        break;
      case RunOptions::Kind::simple:
        simple_ = std::make_unique<zkrecipes::SimpleLock>(connection, options.path, lock);
        break;
    }
  } catch (const std::invalid_argument& error) {
    throw Failure(kUnusablePath, error.what());
  }
}

zkrecipes::PendingHold LockRequest::begin(const zkrecipes::AcquireOptions& options) {
  if (shared_) return shared_->acquire_read_async(options);
  if (semaphore_) return semaphore_->acquire_async(options);
  if (simple_) return simple_->acquire_async(options);
  return exclusive_->acquire_async(options);
}

std::optional<zkrecipes::Hold> LockRequest::acquire(const Signals& signals, Guardian& guardian,
                                                    Clock::time_point deadline) {
  struct Outcome {
    std::mutex mutex;
    std::optional<zkrecipes::AcquireResult> result;  // guarded by mutex
  };
  const auto outcome = std::make_shared<Outcome>();
  zkrecipes::AcquireOptions options;
  options.deadline = deadline;
  zkrecipes::PendingHold pending = begin(options);
  pending.on_ready([outcome, &wakeup = session_.wakeup()](zkrecipes::AcquireResult result) {
    const std::lock_guard<std::mutex> lock(outcome->mutex);
    outcome->result = std::move(result);
    wakeup.notify();
  });
  auto report_at = Clock::now() + std::chrono::seconds(3);
  for (;;) {
    wait_readable({signals.get(), guardian.get(), session_.wakeup().get()}, report_at);
    session_.wakeup().clear();
    guardian.next();  // has nothing to say yet, unless it was killed
    if (const auto signal = signals.next_that_ends()) throw Interrupted{*signal};
    {
      const std::lock_guard<std::mutex> lock(outcome->mutex);
      if (outcome->result) {
        zkrecipes::AcquireResult result = std::move(*outcome->result);
        if (result) return std::move(result).value();
        if (result.status() == zkrecipes::AcquireStatus::not_connected)
          throw Failure(kUnreachable, "the connection to the servers was lost before the lock was free");
        if (result.status() == zkrecipes::AcquireStatus::failed) std::move(result).value();  // throws
        return std::nullopt;
      }
    }
    if (Clock::now() >= report_at) {
      report_wait();
      report_at = Clock::now() + std::chrono::minutes(1);
    }
  }
}

void LockRequest::report_wait() {
  if (loudness() == Loudness::quiet) return;
  const std::string waiting = "waiting for " + options_.path;
  try {
    // Briefly: signals wait meanwhile.
    const auto by = zkrecipes::holder(session_.connection(), options_.path, Clock::now() + std::chrono::seconds(1));
    if (!by) return say(waiting);
    // A node in a queue shows when its client joined; when the lock was granted is not recorded.
    say(waiting + ": held by " + (by->identity.empty() ? "an unnamed client" : by->identity) +
        (by->note.empty() ? "" : " (" + by->note + ")") + (simple_ ? " since " : ", in the queue since ") +
        local_time(by->since) + ", token " + by->token.to_string());
  } catch (const zkrecipes::Error& error) {
    // A SimpleLock also waits for a node of another program to be removed.
    if (error.code() == zkrecipes::ErrorCode::unusable_path) return say(waiting + ": " + error.what());
    say(waiting + "; there is no connection to the servers at the moment");
  }
}

}  // namespace zklock
