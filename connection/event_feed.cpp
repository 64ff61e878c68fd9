// SPDX-License-Identifier: Apache-2.0
#include "connection/event_feed.h"

#include <boost/thread/thread_only.hpp>
#include <utility>

#include "connection/guarded_call.h"
#include "connection/thread_role.h"

namespace zkrecipes::detail {

namespace {

/// Calls the function of the observer that an event is for.
struct Report {
  Observer& observer;
  void operator()(const LockWaiting& event) const { observer.on_waiting(event); }
  void operator()(const LockAcquired& event) const { observer.on_acquired(event); }
  void operator()(const LockNotAcquired& event) const { observer.on_not_acquired(event); }
  void operator()(const LockReleased& event) const { observer.on_released(event); }
  void operator()(const LockLost& event) const { observer.on_lost(event); }
  void operator()(const LeftoverRemoved& event) const { observer.on_leftover_removed(event); }
  void operator()(const StateChanged& event) const { observer.on_state_changed(event); }
  void operator()(const ServerChanged& event) const { observer.on_server_changed(event); }
  void operator()(const HeartbeatAnswered& event) const { observer.on_heartbeat(event); }
};

}  // namespace

EventFeed::EventFeed(std::shared_ptr<Observer> observer, LogPtr log)
    : observer_(std::move(observer)), log_(std::move(log)) {}

void EventFeed::record(ObserverEvent event) {
  const MutexLock lock(mutex_);
  recorded_.push_back(std::move(event));
}

void EventFeed::deliver() noexcept {
  MutexLock lock(mutex_);
  if (delivering_ || recorded_.empty()) return;
  delivering_ = true;
  // Blocking calls of the library are refused meanwhile: this may be a thread that the library depends on.
  const ThreadRole role(ThreadRole::Role::library);
  // This may be a thread of the program, which would not hear of an interruption that ends in the observer.
  const boost::this_thread::disable_interruption uninterrupted;
  while (!recorded_.empty()) {
    const auto due = std::exchange(recorded_, {});
    lock.unlock();
    for (const ObserverEvent& event : due)
      call_guarded(*log_, "ConnectionOptions::observer", [&] { std::visit(Report{*observer_}, event); });
    lock.lock();
  }
  delivering_ = false;
}

}  // namespace zkrecipes::detail
