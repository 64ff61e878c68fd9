// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "zkrecipes/connection.h"

namespace zkrecipes::connection {

/// Until when the server cannot have expired us: the send time of the newest acknowledged request plus what the server
/// grants, less a margin. Once it has been seen to be over it stays over: whoever reads it too late ends it, so no
/// later acknowledgement can bring it back. Lock-free; time is passed in.
class Lease {
 public:
  Lease(Clock::time_point start, Clock::duration length);

  /// A request sent at `sent` was answered, noticed at `now`. False when the lease is over.
  bool acknowledge(Clock::time_point sent, Clock::time_point now) noexcept;
  bool is_valid(Clock::time_point now) const noexcept;
  /// The deadline; once over, the deadline that was missed or the moment it was ended, whichever came first.
  Clock::time_point valid_until() const noexcept;
  void end(Clock::time_point now) noexcept;
  bool ended() const noexcept;
  /// Ended, and not by end() ahead of the deadline.
  bool ran_out() const noexcept { return ended() && !cut_short_.load(); }

 private:
  std::atomic<bool> cut_short_{false};
  const Clock::duration length_;
  // A deadline in ticks of Clock; shifted left by one, the lowest bit says "over".
  mutable std::atomic<std::int64_t> state_;
};

/// One ZooKeeper session. Holds and places in line belong to one and die with it.
class Session {
 public:
  using ListenerId = std::uint64_t;

  Session(std::int64_t id, std::chrono::milliseconds timeout, Clock::time_point start, Clock::duration margin);

  std::int64_t id() const noexcept { return id_; }
  std::chrono::milliseconds timeout() const noexcept { return timeout_; }
  Lease& lease() noexcept { return lease_; }
  const Lease& lease() const noexcept { return lease_; }

  /// True from the moment its end was announced to listeners, or is about to be.
  bool is_over() const noexcept { return lease_.ended(); }

  /// `listener` runs once when the session is over; at once, on this thread, when it already is. Returns 0 then.
  ListenerId on_over(std::function<void()> listener);
  /// After it returns the listener will not begin to run any more; it may be running on another thread.
  void forget(ListenerId id);

  /// Ends the lease and tells the listeners, once.
  void announce_over(Clock::time_point now);

 private:
  const std::int64_t id_;
  const std::chrono::milliseconds timeout_;
  Lease lease_;

  std::mutex mutex_;
  bool announced_ = false;                                 // guarded by mutex_
  ListenerId next_id_ = 1;                                 // guarded by mutex_
  std::map<ListenerId, std::function<void()>> listeners_;  // guarded by mutex_
};

using SessionPtr = std::shared_ptr<Session>;

}  // namespace zkrecipes::connection
