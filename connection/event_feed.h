// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/container/small_vector.hpp>
#include <memory>
#include <variant>

#include "connection/log.h"
#include "connection/mutex.h"
#include "zkrecipes/observer.h"

namespace zkrecipes::detail {

using ObserverEvent = std::variant<LockWaiting, LockAcquired, LockNotAcquired, LockReleased, LockLost, LeftoverRemoved,
                                   StateChanged, ServerChanged, HeartbeatAnswered>;

/// Events on their way to the program's observer, in two steps. Code that notices an event records it, at the moment at
/// which the order of events is decided and so perhaps with a mutex held. The observer is called later, without one.
///
/// Events are delivered one at a time and in the order in which they were recorded, whichever threads deliver. No
/// thread waits for another: a thread that finds another one delivering leaves its events to that thread.
///
/// Thread-safe.
class EventFeed {
 public:
  /// `observer` is not null.
  EventFeed(std::shared_ptr<Observer> observer, LogPtr log);

  /// deliver() must follow, by the same caller.
  void record(ObserverEvent event);
  /// Not while holding a mutex.
  void deliver() noexcept;

 private:
  const std::shared_ptr<Observer> observer_;
  const LogPtr log_;

  Mutex mutex_;
  bool delivering_ ZKR_GUARDED_BY(mutex_) = false;
  boost::container::small_vector<ObserverEvent, 2> recorded_ ZKR_GUARDED_BY(mutex_);
};

using EventFeedPtr = std::shared_ptr<EventFeed>;

}  // namespace zkrecipes::detail
