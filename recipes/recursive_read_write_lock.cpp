// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/recursive_read_write_lock.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "connection/mutex.h"
#include "recipes/make_core.h"
#include "recipes/reentrant_hold.h"
#include "zkrecipes/error.h"

namespace zkrecipes {

using detail::DowngradableHold;
using detail::MutexLock;
using detail::NodeKind;
using detail::ReentrantHold;

namespace {

constexpr Clock::time_point kNow = Clock::time_point::min();      // does not wait
constexpr Clock::time_point kForever = Clock::time_point::max();  // waits as long as it takes

}  // namespace

// Hidden: the state of a public class is not part of the public API.
struct __attribute__((visibility("hidden"))) RecursiveReadWriteLock::State {
  using Entry = ReentrantHold::Entry;
  using Exit = ReentrantHold::Exit;

  std::unique_ptr<detail::LockCore> readers;
  std::unique_ptr<detail::LockCore> writers;
  LockOptions options;

  // Changed by its own thread only, except that a downgrade goes on inside the hold. A hold that was lost may be owned
  // by one thread still while another has the lock already.
  struct Owned {
    std::thread::id owner;
    ReentrantHold held;
  };
  mutable detail::Mutex mutex;
  std::vector<Owned> owned ZKR_GUARDED_BY(mutex);  // the newest last; each is locked at least once

  std::vector<Owned>::iterator mine() ZKR_REQUIRES(mutex) {
    return std::find_if(owned.begin(), owned.end(),
                        [self = std::this_thread::get_id()](const Owned& one) { return one.owner == self; });
  }

  /// Whether the call has succeeded; nothing if it has to acquire.
  std::optional<bool> enter(Entry (ReentrantHold::*how)(), Clock::time_point deadline) {
    if (writers->client()->in_forked_child()) writers->client()->check_usable();  // throws
    MutexLock lock(mutex);
    const auto found = mine();
    const Entry entry = found == owned.end() ? Entry::acquire : (found->held.*how)();
    if (entry == Entry::acquire) return std::nullopt;
    if (entry == Entry::counted) return true;
    if (deadline <= writers->client()->world().now()) return false;
    throw std::logic_error("zkrecipes: lock " + writers->path() +
                           ": this thread has locked it for reading and would wait for itself");
  }

  bool keep(NodeKind kind, AcquireResult granted) {
    if (!granted) return false;
    Owned added{std::this_thread::get_id(), {}};
    if (kind == NodeKind::write)
      added.held.granted_write(*std::move(granted), options);
    else
      added.held.granted_read(*std::move(granted));
    MutexLock lock(mutex);
    owned.push_back(std::move(added));
    return true;
  }

  void leave(Exit (ReentrantHold::*how)(), const char* call) noexcept {
    if (writers->client()->in_forked_child()) return;
    std::shared_ptr<DowngradableHold> ended;
    MutexLock lock(mutex);
    const auto found = mine();
    const Exit exit = found == owned.end() ? Exit::not_inside : (found->held.*how)();
    if (exit == Exit::over) {
      ended = found->held.hold();
      owned.erase(found);
    }
    lock.unlock();
    if (exit == Exit::not_inside)
      writers->client()->log()->error(std::string(call) + " of " + writers->path() +
                                      ", which this thread has not locked so");
    if (ended) ended->release();  // another thread may be asking it something: its end would come too late
  }

  int count(int (ReentrantHold::*times)() const) {
    if (writers->client()->in_forked_child()) return 0;  // the mutex may have been held at the moment of the fork
    MutexLock lock(mutex);
    const auto found = mine();
    return found == owned.end() ? 0 : (found->held.*times)();
  }

  /// The hold of this thread, else the newest, among those that are locked in this way; null if there is none.
  std::shared_ptr<DowngradableHold> current(int (ReentrantHold::*times)() const) {
    if (writers->client()->in_forked_child()) return nullptr;
    MutexLock lock(mutex);
    const auto own = mine();
    if (own != owned.end() && (own->held.*times)() > 0) return own->held.hold();
    const auto newest =
        std::find_if(owned.rbegin(), owned.rend(), [&](const Owned& one) { return (one.held.*times)() > 0; });
    return newest == owned.rend() ? nullptr : newest->held.hold();
  }
  std::shared_ptr<DowngradableHold> current_or_throw(int (ReentrantHold::*times)() const, const char* call) {
    if (writers->client()->in_forked_child()) writers->client()->check_usable();  // throws
    if (auto hold = current(times)) return hold;
    throw Error(ErrorCode::not_held, "lock " + writers->path() + ": " + call + " without a lock");
  }
};

RecursiveReadWriteLock::RecursiveReadWriteLock(Connection& connection, const std::string& path,
                                               const LockOptions& options)
    : state_(std::make_unique<State>()) {
  const auto client = client_of(connection);
  state_->readers = detail::make_queue_core(client, path, NodeKind::read, options);
  state_->writers = detail::make_queue_core(client, path, NodeKind::write, options);
  state_->options = options;
}

RecursiveReadWriteLock::~RecursiveReadWriteLock() = default;

void RecursiveReadWriteLock::lock() {
  static_cast<void>(lock(StopToken()));
}

bool RecursiveReadWriteLock::lock(const StopToken& stop) {
  if (state_->enter(&ReentrantHold::enter_write, kForever)) return true;
  return state_->keep(NodeKind::write, state_->writers->acquire(stop));
}

bool RecursiveReadWriteLock::try_lock() {
  if (const auto entered = state_->enter(&ReentrantHold::enter_write, kNow)) return *entered;
  return state_->keep(NodeKind::write, state_->writers->try_acquire());
}

bool RecursiveReadWriteLock::lock_until(Clock::time_point deadline) {
  if (const auto entered = state_->enter(&ReentrantHold::enter_write, deadline)) return *entered;
  return state_->keep(NodeKind::write, state_->writers->try_acquire_until(deadline));
}

void RecursiveReadWriteLock::unlock() noexcept {
  state_->leave(&ReentrantHold::leave_write, "unlock()");
}

void RecursiveReadWriteLock::lock_shared() {
  static_cast<void>(lock_shared(StopToken()));
}

bool RecursiveReadWriteLock::lock_shared(const StopToken& stop) {
  if (state_->enter(&ReentrantHold::enter_read, kForever)) return true;
  return state_->keep(NodeKind::read, state_->readers->acquire(stop));
}

bool RecursiveReadWriteLock::try_lock_shared() {
  if (const auto entered = state_->enter(&ReentrantHold::enter_read, kNow)) return *entered;
  return state_->keep(NodeKind::read, state_->readers->try_acquire());
}

bool RecursiveReadWriteLock::lock_shared_until(Clock::time_point deadline) {
  if (const auto entered = state_->enter(&ReentrantHold::enter_read, deadline)) return *entered;
  return state_->keep(NodeKind::read, state_->readers->try_acquire_until(deadline));
}

void RecursiveReadWriteLock::unlock_shared() noexcept {
  state_->leave(&ReentrantHold::leave_read, "unlock_shared()");
}

int RecursiveReadWriteLock::depth() const noexcept {
  return state_->count(&ReentrantHold::writes);
}

int RecursiveReadWriteLock::depth_shared() const noexcept {
  return state_->count(&ReentrantHold::reads);
}

bool RecursiveReadWriteLock::is_held() const noexcept {
  const auto hold = state_->current(&ReentrantHold::writes);
  return hold && hold->is_valid();
}

FencingToken RecursiveReadWriteLock::fencing_token() const {
  return state_->current_or_throw(&ReentrantHold::writes, "fencing_token()")->token();
}

std::string RecursiveReadWriteLock::node() const {
  return state_->current_or_throw(&ReentrantHold::writes, "node()")->node();
}

Subscription RecursiveReadWriteLock::on_lost(std::function<void()> callback) {
  return state_->current_or_throw(&ReentrantHold::writes, "on_lost()")->on_write_lost(std::move(callback));
}

bool RecursiveReadWriteLock::is_held_shared() const noexcept {
  const auto hold = state_->current(&ReentrantHold::reads);
  return hold && hold->is_valid();
}

FencingToken RecursiveReadWriteLock::fencing_token_shared() const {
  return state_->current_or_throw(&ReentrantHold::reads, "fencing_token_shared()")->token();
}

std::string RecursiveReadWriteLock::node_shared() const {
  return state_->current_or_throw(&ReentrantHold::reads, "node_shared()")->node();
}

Subscription RecursiveReadWriteLock::on_lost_shared(std::function<void()> callback) {
  return state_->current_or_throw(&ReentrantHold::reads, "on_lost_shared()")->on_lost(std::move(callback));
}

}  // namespace zkrecipes
