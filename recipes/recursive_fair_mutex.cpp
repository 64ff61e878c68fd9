// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/recursive_fair_mutex.h"

#include <map>
#include <thread>
#include <utility>

#include "connection/mutex.h"
#include "recipes/make_core.h"

namespace zkrecipes {

// Hidden: the state of a public class is not part of the public API.
struct __attribute__((visibility("hidden"))) RecursiveFairMutex::State {
  std::unique_ptr<detail::LockCore> core;
  mutable detail::Mutex mutex;
  // A hold that was lost may be owned by one thread still while another has the lock already.
  std::map<std::thread::id, int> depths ZKR_GUARDED_BY(mutex);

  /// True when this thread owns it, which is then counted.
  bool enter_again() {
    if (core->client()->in_forked_child()) core->client()->check_usable();  // throws
    detail::MutexLock lock(mutex);
    const auto found = depths.find(std::this_thread::get_id());
    if (found == depths.end()) return false;
    ++found->second;
    return true;
  }
  bool entered(bool locked) {
    if (!locked) return false;
    detail::MutexLock lock(mutex);
    depths[std::this_thread::get_id()] = 1;
    return true;
  }
};

RecursiveFairMutex::RecursiveFairMutex(Connection& connection, const std::string& path, const LockOptions& options)
    : state_(std::make_unique<State>()) {
  state_->core = detail::make_queue_core(client_of(connection), path, detail::NodeKind::lock, options);
}

RecursiveFairMutex::~RecursiveFairMutex() = default;

void RecursiveFairMutex::lock() {
  static_cast<void>(lock(StopToken()));
}

bool RecursiveFairMutex::lock(const StopToken& stop) {
  return state_->enter_again() || state_->entered(state_->core->lock(stop));
}

bool RecursiveFairMutex::try_lock() {
  return state_->enter_again() || state_->entered(state_->core->try_lock());
}

bool RecursiveFairMutex::lock_until(Clock::time_point deadline) {
  return state_->enter_again() || state_->entered(state_->core->try_lock_until(deadline));
}

void RecursiveFairMutex::unlock() noexcept {
  if (state_->core->client()->in_forked_child()) return;  // the mutex may have been held at the moment of the fork
  {
    detail::MutexLock lock(state_->mutex);
    const auto found = state_->depths.find(std::this_thread::get_id());
    if (found != state_->depths.end()) {
      if (--found->second > 0) return;
      state_->depths.erase(found);
    }
  }
  state_->core->unlock();  // which logs that this thread has not locked it, if so
}

bool RecursiveFairMutex::is_held() const noexcept {
  return state_->core->is_held();
}

int RecursiveFairMutex::depth() const noexcept {
  if (state_->core->client()->in_forked_child()) return 0;
  detail::MutexLock lock(state_->mutex);
  const auto found = state_->depths.find(std::this_thread::get_id());
  return found == state_->depths.end() ? 0 : found->second;
}

FencingToken RecursiveFairMutex::fencing_token() const {
  return state_->core->fencing_token();
}

std::string RecursiveFairMutex::node() const {
  return state_->core->node();
}

Subscription RecursiveFairMutex::on_lost(std::function<void()> callback) {
  return state_->core->on_lost(std::move(callback));
}

}  // namespace zkrecipes
