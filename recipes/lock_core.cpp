// SPDX-License-Identifier: Apache-2.0
#include "recipes/lock_core.h"

#include <algorithm>
#include <boost/thread/thread_only.hpp>
#include <stdexcept>
#include <utility>

#include "recipes/hold_access.h"
#include "zkrecipes/error.h"

namespace zkrecipes::detail {

namespace {
// As good as for ever, and far from what clocks can count.
constexpr std::chrono::hours kLongestRetention{24 * 365};
}  // namespace

LockCore::LockCore(std::shared_ptr<Client> client, std::string path, FlowFactory make_flow, LockInfoPtr observed_as,
                   std::chrono::milliseconds retain)
    : client_(std::move(client)),
      path_(std::move(path)),
      make_flow_(std::move(make_flow)),
      observed_as_(std::move(observed_as)),
      retention_(retain.count() > 0
                     ? std::make_shared<Retention>(std::min<std::chrono::milliseconds>(retain, kLongestRetention))
                     : nullptr) {
  check_node_path(path_);
  if (path_ == "/") throw std::invalid_argument("zkrecipes: \"/\" cannot be a lock path");
}

LockCore::~LockCore() {
  if (retention_ && !client_->in_forked_child()) retention_->close();
}

std::shared_ptr<Acquisition> LockCore::start(Patience patience, const StopToken& stop, int /*permits*/) {
  ObservedAttemptPtr observed = observe();
  if (retention_ && !stop.stop_requested())
    if (auto held = retention_->take(observed)) return Acquisition::granted(client_, path_, std::move(held));
  return Acquisition::start(client_, make_flow_(patience), patience, path_, stop, retention_, std::move(observed));
}

/// For a thread that waits: what has failed for good is thrown.
AcquireResult LockCore::acquire_by(Clock::time_point deadline, Patience patience, const StopToken& stop, int permits) {
  client_->check_may_block();
  if (retention_) boost::this_thread::interruption_point();  // a node that is taken over is not waited for
  AcquireResult result = start(patience, stop, permits)->take_by(deadline);
  if (result.status() == AcquireStatus::failed) std::rethrow_exception(result.error());
  return result;
}

Hold LockCore::acquire(int permits) {
  return acquire(StopToken(), permits).value();
}

AcquireResult LockCore::acquire(const StopToken& stop, int permits) {
  return acquire_by(Clock::time_point::max(), Patience::queue, stop, permits);
}

AcquireResult LockCore::try_acquire(int permits) {
  client_->check_may_block();
  client_->wait_for_first_attempt();
  return acquire_by(Clock::time_point::max(), Patience::try_once, {}, permits);
}

AcquireResult LockCore::try_acquire_until(Clock::time_point deadline, const StopToken& stop, int permits) {
  if (deadline <= client_->world().now())
    return acquire_by(Clock::time_point::max(), Patience::try_once, stop, permits);
  return acquire_by(deadline, Patience::queue, stop, permits);
}

PendingHold LockCore::acquire_async(const AcquireOptions& options, int permits) {
  client_->check_usable();
  const bool is_try = options.deadline <= client_->world().now();
  auto acquisition = start(is_try ? Patience::try_once : Patience::queue, options.stop, permits);
  if (!is_try && options.deadline != Clock::time_point::max()) acquisition->end_at(options.deadline);
  return HoldAccess::pending(std::move(acquisition));
}

bool LockCore::lock(const StopToken& stop) {
  return keep(acquire(stop));
}

bool LockCore::try_lock() {
  return keep(try_acquire());
}

bool LockCore::try_lock_until(Clock::time_point deadline) {
  return keep(try_acquire_until(deadline));
}

bool LockCore::keep(AcquireResult result) {
  if (!result) return false;
  MutexLock lock(mutex_);
  kept_.push_back({std::this_thread::get_id(), *std::move(result)});
  return true;
}

void LockCore::unlock() noexcept {
  if (client_->in_forked_child()) return;
  Hold released;  // its removal is handed over when it goes out of scope, without the mutex
  MutexLock lock(mutex_);
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    if (kept->owner != std::this_thread::get_id()) continue;
    released = std::move(kept->hold);
    kept_.erase(std::next(kept).base());
    return;
  }
  lock.unlock();
  client_->log()->error("unlock() of " + path_ + " by a thread that has not locked it");
}

/// The hold of this thread, else the newest.
const Hold* LockCore::current() const {
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept)
    if (kept->owner == std::this_thread::get_id()) return &kept->hold;
  return kept_.empty() ? nullptr : &kept_.back().hold;
}

void LockCore::refuse_if_mine(const char* mistake) const {
  if (client_->in_forked_child()) client_->check_usable();  // throws
  MutexLock lock(mutex_);
  for (const Kept& kept : kept_)
    if (kept.owner == std::this_thread::get_id() && kept.hold.is_valid())
      throw std::logic_error("zkrecipes: lock " + path_ + ": " + mistake + " and would wait for itself");
}

bool LockCore::is_held() const noexcept {
  if (client_->in_forked_child()) return false;  // the mutex may have been held at the moment of the fork
  MutexLock lock(mutex_);
  const Hold* const hold = current();
  return hold != nullptr && hold->is_valid();
}

FencingToken LockCore::fencing_token() const {
  if (client_->in_forked_child()) client_->check_usable();  // throws
  MutexLock lock(mutex_);
  if (const Hold* const hold = current()) return hold->token();
  throw Error(ErrorCode::not_held, "lock " + path_ + ": fencing_token() without a lock()");
}

std::string LockCore::node() const {
  if (client_->in_forked_child()) client_->check_usable();  // throws
  MutexLock lock(mutex_);
  if (const Hold* const hold = current()) return hold->node();
  throw Error(ErrorCode::not_held, "lock " + path_ + ": node() without a lock()");
}

Subscription LockCore::on_lost(std::function<void()> callback) {
  if (client_->in_forked_child()) client_->check_usable();  // throws
  MutexLock lock(mutex_);
  if (const Hold* const hold = current()) return hold->on_lost(std::move(callback));
  throw Error(ErrorCode::not_held, "lock " + path_ + ": on_lost() without a lock()");
}

}  // namespace zkrecipes::detail
