// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/recursive_fair_mutex.h"

#include <glog/logging.h>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "recipes/queue_core.h"

namespace zkrecipes {

struct RecursiveFairMutex::State {
  std::unique_ptr<recipes::LockCore> core;
  mutable std::mutex mutex;
  // Guarded by mutex. A hold that was lost may be owned by one thread still while another has the lock already.
  std::map<std::thread::id, int> depths;

  /// True when this thread owns it, which is then counted.
  bool enter_again() {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = depths.find(std::this_thread::get_id());
    if (found == depths.end()) return false;
    ++found->second;
    return true;
  }
  bool entered(bool locked) {
    if (!locked) return false;
    std::lock_guard<std::mutex> lock(mutex);
    depths[std::this_thread::get_id()] = 1;
    return true;
  }
};

RecursiveFairMutex::RecursiveFairMutex(Connection& connection, std::string path, LockOptions options)
    : state_(std::make_unique<State>()) {
  state_->core = recipes::make_queue_core(client_of(connection), path, recipes::NodeKind::lock, options);
}

RecursiveFairMutex::~RecursiveFairMutex() = default;

void RecursiveFairMutex::lock() {
  if (state_->enter_again()) return;
  state_->core->lock();
  state_->entered(true);
}

bool RecursiveFairMutex::try_lock() {
  return state_->enter_again() || state_->entered(state_->core->try_lock());
}

bool RecursiveFairMutex::lock_until(Clock::time_point deadline) {
  return state_->enter_again() || state_->entered(state_->core->try_lock_until(deadline));
}

void RecursiveFairMutex::unlock() noexcept {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    const auto found = state_->depths.find(std::this_thread::get_id());
    if (found == state_->depths.end()) {
      LOG(ERROR) << "zkrecipes: unlock() of " << state_->core->path() << " by a thread that does not own it";
      return;
    }
    if (--found->second > 0) return;
    state_->depths.erase(found);
  }
  state_->core->unlock();
}

bool RecursiveFairMutex::is_held() const noexcept {
  return state_->core->is_held();
}

int RecursiveFairMutex::depth() const noexcept {
  std::lock_guard<std::mutex> lock(state_->mutex);
  const auto found = state_->depths.find(std::this_thread::get_id());
  return found == state_->depths.end() ? 0 : found->second;
}

FencingToken RecursiveFairMutex::fencing_token() const {
  return state_->core->fencing_token();
}

Subscription RecursiveFairMutex::on_lost(std::function<void()> callback) {
  return state_->core->on_lost(std::move(callback));
}

}  // namespace zkrecipes
