// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "connection/lease_clock.h"
#include "connection/mutex.h"
#include "connection/node_claims.h"

namespace zkrecipes::detail {

/// Until when something that the server has confirmed can be relied on: the time at which the newest request that
/// proves it was sent, plus a length. Lock-free; time is passed in.
///
/// A lease that somebody relies on and that was seen to have run out stays over: a late proof does not bring it back.
class Lease {
 public:
  using Time = LeaseClock::time_point;

  Lease(Time start, LeaseClock::duration length);

  /// A request sent at `sent` has proved it; noticed at `now`. False when the lease is over. `relied_on`: somebody may
  /// have seen the deadline, so a proof that is noticed after the deadline ends the lease instead of renewing it.
  bool renew(Time sent, Time now, bool relied_on) noexcept;
  /// From now on the lease is at most this long, counted from the newest proof.
  void shorten(LeaseClock::duration length) noexcept;
  /// For whoever relies on it: a lease that has run out is over from now on.
  bool is_valid(Time now) const noexcept;
  /// Whether it has not run out yet; changes nothing.
  bool covers(Time now) const noexcept;
  /// The deadline; once over, the deadline that was missed or the moment it was ended, whichever was earlier.
  Time valid_until() const noexcept;
  LeaseClock::duration length() const noexcept { return LeaseClock::duration(length_.load()); }
  /// When the newest proof was sent.
  Time proved_at() const noexcept;
  void end(Time now) noexcept;
  bool ended() const noexcept;
  /// Ended, and not by end() ahead of the deadline.
  bool ran_out() const noexcept { return ended() && !cut_short_.load(); }

 private:
  std::atomic<bool> cut_short_{false};
  std::atomic<std::int64_t> length_;  // in ticks of LeaseClock; only becomes shorter
  // The time of the newest proof in ticks of LeaseClock, shifted left by one; the lowest bit says "over".
  mutable std::atomic<std::int64_t> state_;
};

/// One ZooKeeper session. Holds and places in line belong to one and end with it.
///
/// It has two leases. `contact` is renewed by every answer of the server; when it has run out, the connection gives the
/// session up. `lease` is renewed only by answers that prove the session to a quorum (see docs/guarantees.md), and
/// holds are valid as long as it is.
class Session {
 public:
  using ListenerId = std::uint64_t;

  Session(std::int64_t id, std::chrono::milliseconds timeout, Lease::Time start, LeaseClock::duration margin);

  std::int64_t id() const noexcept { return id_; }
  /// As negotiated last.
  std::chrono::milliseconds timeout() const noexcept { return std::chrono::milliseconds(timeout_ms_.load()); }
  /// The shortest that was negotiated in this session. It sets the pace of whatever renews the leases.
  std::chrono::milliseconds shortest_timeout() const noexcept { return std::chrono::milliseconds(shortest_ms_.load()); }
  /// A reconnect has negotiated this timeout. The leases follow a shorter one. They do not follow a longer one: a new
  /// leader goes by the timeout that the session was made with.
  void renegotiated(std::chrono::milliseconds timeout, LeaseClock::duration margin) noexcept;

  Lease& lease() noexcept { return lease_; }
  const Lease& lease() const noexcept { return lease_; }
  Lease& contact() noexcept { return contact_; }
  /// Whether the lease was renewed so recently that a hold may begin on it: the holder's heartbeats then have half of
  /// it to renew it again.
  bool is_proved(Lease::Time now) const noexcept;

  NodeClaims& claims() noexcept { return claims_; }
  /// Whether contenders of other connections may be in this session: it is the program's own.
  bool is_shared() const noexcept { return shared_.load(); }
  void set_shared() noexcept { shared_.store(true); }

  // How it ends, noted before end() by whoever knows. The first note counts.
  void note_expired() noexcept { note(End::expired); }  ///< the server said so
  void note_closed() noexcept { note(End::closed); }    ///< the connection is closed
  bool ended_by_close() const noexcept { return end_.load() == End::closed; }
  bool has_expired() const noexcept { return end_.load() == End::expired; }

  /// Ends both leases; the listeners are notified by announce_over().
  void end(Lease::Time now) noexcept;
  /// True from the moment its end was announced to listeners, or is about to be.
  bool is_over() const noexcept { return over_.load(); }

  /// `listener` runs once when the session is over; at once, on this thread, when it already is. Returns 0 then.
  ListenerId on_over(const std::function<void()>& listener);
  /// The same, but returns 0 and does nothing when it already is.
  ListenerId on_later_over(std::function<void()> listener);
  /// After it returns the listener will not begin to run any more; it may be running on another thread.
  void forget(ListenerId id);

  /// Ends the leases and notifies the listeners, once.
  void announce_over(Lease::Time now);

 private:
  enum class End { unknown, expired, closed };
  void note(End end) noexcept {
    End unknown = End::unknown;
    end_.compare_exchange_strong(unknown, end);
  }

  const std::int64_t id_;
  std::atomic<std::int64_t> timeout_ms_;
  std::atomic<std::int64_t> shortest_ms_;  // written by one thread at a time
  Lease lease_;
  Lease contact_;
  NodeClaims claims_;
  std::atomic<bool> shared_{false};
  std::atomic<bool> over_{false};
  std::atomic<End> end_{End::unknown};

  Mutex mutex_;
  bool announced_ ZKR_GUARDED_BY(mutex_) = false;
  ListenerId next_id_ ZKR_GUARDED_BY(mutex_) = 1;
  std::map<ListenerId, std::function<void()>> listeners_ ZKR_GUARDED_BY(mutex_);
};

using SessionPtr = std::shared_ptr<Session>;

}  // namespace zkrecipes::detail
