// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "connection/client.h"
#include "connection/mutex.h"
#include "recipes/acquisition.h"
#include "recipes/flow.h"
#include "recipes/retention.h"
#include "zkrecipes/acquire_options.h"
#include "zkrecipes/acquire_result.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/pending_hold.h"

namespace zkrecipes::detail {

/// What all lock types have in common, given how to make a flow: the blocking and asynchronous acquires, and the hold
/// that lock() keeps until unlock(). Thread-safe.
class LockCore {
 public:
  using FlowFactory = std::function<std::unique_ptr<Flow>(Patience)>;

  /// `retain`: how long the node stays between two holds; see LockOptions. `observed_as`: null if nobody observes.
  LockCore(std::shared_ptr<Client> client, std::string path, FlowFactory make_flow, LockInfoPtr observed_as,
           std::chrono::milliseconds retain = {});
  virtual ~LockCore();
  LockCore(const LockCore&) = delete;
  LockCore& operator=(const LockCore&) = delete;

  // `permits` is for semaphores.
  Hold acquire(int permits = 1);
  AcquireResult acquire(const StopToken& stop, int permits = 1);
  AcquireResult try_acquire(int permits = 1);
  AcquireResult try_acquire_until(Clock::time_point deadline, const StopToken& stop = {}, int permits = 1);
  PendingHold acquire_async(const AcquireOptions& options = {}, int permits = 1);

  bool lock(const StopToken& stop);
  bool try_lock();
  bool try_lock_until(Clock::time_point deadline);
  void unlock() noexcept;

  bool is_held() const noexcept;
  FencingToken fencing_token() const;
  std::string node() const;
  Subscription on_lost(std::function<void()> callback);

  /// Throws std::logic_error if this thread has locked and its hold is valid. `mistake` says what it would wait for. A
  /// hold that was lost is in nobody's way.
  void refuse_if_mine(const char* mistake) const;

  const std::shared_ptr<Client>& client() const { return client_; }
  const std::string& path() const { return path_; }

 protected:
  virtual std::shared_ptr<Acquisition> start(Patience patience, const StopToken& stop, int permits);
  /// For an attempt that begins; null if nobody observes.
  ObservedAttemptPtr observe() const { return ObservedAttempt::make(client_, observed_as_); }

 private:
  AcquireResult acquire_by(Clock::time_point deadline, Patience patience, const StopToken& stop, int permits);
  bool keep(AcquireResult result);
  const Hold* current() const ZKR_REQUIRES(mutex_);

  const std::shared_ptr<Client> client_;
  const std::string path_;
  const FlowFactory make_flow_;
  const LockInfoPtr observed_as_;
  const std::shared_ptr<Retention> retention_;  // null unless the node is to stay

  // What lock() keeps until the same thread unlocks. Usually one; several for a shared lock, and when a hold was lost
  // and another thread has the lock before the first has unlocked: that unlock() must not hit the second one's hold.
  struct Kept {
    std::thread::id owner;
    Hold hold;
  };
  mutable Mutex mutex_;
  std::vector<Kept> kept_ ZKR_GUARDED_BY(mutex_);  // the newest last
};

}  // namespace zkrecipes::detail
