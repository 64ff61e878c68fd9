// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "zkrecipes/acquire_result.h"
#include "zkrecipes/connection.h"
#include "zkrecipes/contenders.h"
#include "zkrecipes/fencing_token.h"
#include "zkrecipes/hold.h"

namespace zkrecipes {

/// Why a hold was lost.
enum class LossReason {
  lease_over,         ///< no server has confirmed the session in time: an outage, or this process was paused
  session_expired,    ///< the server has ended the session while the lease was still good
  node_deleted,       ///< somebody has deleted the node of the hold
  connection_closed,  ///< the Connection was closed, by the program or because it cannot be used any more
};

const char* to_string(LossReason reason) noexcept;
std::ostream& operator<<(std::ostream& out, LossReason reason);

/// The lock object that an event is about. Shared by all events of the object, and may be kept.
struct LockInfo {
  std::string path;
  std::string name;  ///< LockOptions::name; empty if it was not set
  LockKind kind = LockKind::mutex;
  LockMode mode = LockMode::exclusive;
};

/// What all events about a lock have.
struct LockEvent {
  /// Of one attempt and of the hold that comes of it; not used again in this process.
  std::uint64_t id = 0;
  std::shared_ptr<const LockInfo> lock;  ///< never null
};

/// The attempt is in the queue and others are ahead of it. An attempt that gets the lock at once has no such event. One
/// whose session was lost, and that joins the queue again, has another. So has one for permits of a semaphore that
/// waits at the head of the line until there are enough of them.
struct LockWaiting : LockEvent {
  int queue_position = 0;  ///< contenders ahead; for permits: in the line, so 0 at its head
};

struct LockAcquired : LockEvent {
  FencingToken token;
  AcquisitionCost cost;
  int permits = 1;  ///< of a semaphore
  /// A read hold in place of a write hold of the same lock, without an attempt of its own. It has an id of its own; its
  /// cost is zero. The write hold is released next.
  bool downgraded = false;
};

struct LockNotAcquired : LockEvent {
  AcquireStatus status = AcquireStatus::failed;  ///< never granted. An interrupted thread: stopped
  std::chrono::nanoseconds waited{};
};

struct LockReleased : LockEvent {
  FencingToken token;
  std::chrono::nanoseconds held{};
};

struct LockLost : LockEvent {
  FencingToken token;
  LossReason reason = LossReason::lease_over;
  std::string text;  ///< the reason in words, as in the log
  std::chrono::nanoseconds held{};
};

/// A node of this connection that nobody held or waited with any more was removed: one that an earlier session of the
/// connection had left, or one whose creation was answered after its attempt had ended.
struct LeftoverRemoved {
  std::string node;
};

struct StateChanged {
  ConnectionState state = ConnectionState::connecting;
  ConnectionState before = ConnectionState::connecting;
  std::int64_t session_id = 0;  ///< the session that is connected, suspended or over; 0 if there was none
  /// A server has said that the session is over. With `closed`: that of a handle that the program has lent.
  bool session_expired = false;
};

/// The connection is at another server than before. Reported ahead of the state `connected`. Not for a handle that the
/// program has lent.
struct ServerChanged {
  std::string address;  ///< "10.0.0.7:2181"
  std::string before;   ///< empty for the first one
  std::int64_t session_id = 0;
};

/// A heartbeat was answered; they are sent every tenth of the session timeout while connected.
struct HeartbeatAnswered {
  std::chrono::nanoseconds round_trip{};
  /// How much of the lease was left when the answer came. If this is often small, holds are nearly lost. Nothing while
  /// the connection has no holds.
  std::optional<std::chrono::nanoseconds> lease_left;
  /// Nodes of holds in this session; a hold of n permits has n. A node that LockOptions::retain keeps between two holds
  /// counts, too: it needs the lease all the same.
  std::size_t holds = 0;
  // Heartbeats are not counted.
  std::size_t requests_in_flight = 0;  ///< sent and not answered
  std::size_t requests_waiting = 0;    ///< not sent yet, because too many are in flight
};

/// Hears of what the locks of a connection do, for metrics and traces. Derive from it, override what is of interest,
/// and set ConnectionOptions::observer. zkrecipes/prometheus.h has one that is ready to use.
///
///     class Losses : public zkrecipes::Observer {
///       void on_lost(const zkrecipes::LockLost& lost) override { alert(lost.lock->name, lost.reason); }
///     };
///     options.observer = std::make_shared<Losses>();
///
/// Pairs: every attempt ends in exactly one on_acquired() or on_not_acquired(), and every on_acquired() is followed by
/// exactly one on_released() or on_lost(), with the same id. An attempt begins when a call acquires; a call that throws
/// at once (bad input, closed connection) is none.
/// - One hold is one pair: a recursive lock reports its outermost lock() and the unlock() that ends it; a hold of n
///   permits is one event.
/// - A hold that was granted and not taken, because its PendingHold was cancelled or destroyed, is acquired and
///   released.
/// - With LockOptions::retain each hold is a pair of its own; between two holds nothing is held. A hold that takes a
///   retained node over has no cost.
/// - Releasing a hold that was lost is not reported: on_lost() was.
/// - In the child of a fork nothing is reported. What a process that ends holds is not reported.
///
/// Order: events with one id are reported one after the other, in the order in which they happened, and so are those
/// about the connection (states, servers, heartbeats, left-overs). Events of different ids, and of the connection and a
/// lock, may be reported at the same time and in any order. An event may be reported a moment after the call that
/// caused it has returned.
///
/// Threads: on_...() is called on threads of the library and on threads that call the library, on several at the same
/// time. So an observer must be thread-safe; then several connections may share it. The library holds none of its
/// mutexes then: an observer may ask the connection for its state() and may release holds. It must return soon,
/// because heartbeats and acquires may wait for it. Calls that block throw std::logic_error there. Do not close or
/// destroy a Connection on the program's own handle there: it cannot throw, and would block for some seconds. Nor can
/// Subscription::disconnect_and_wait() and the destructor of a PendingHold throw, which wait for a callback that is
/// running on another thread: use them there only if that callback does not wait for the observer.
///
/// Exceptions are logged and dropped.
///
/// Lifetime: kept until the connection and all locks and holds that were made on it are destroyed, and called until
/// then. The members of an event may be copied and kept.
///
/// Cost: without an observer, one comparison with null for each event.
class Observer {
 public:
  Observer();
  virtual ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  virtual void on_waiting(const LockWaiting&) {}
  virtual void on_acquired(const LockAcquired&) {}
  virtual void on_not_acquired(const LockNotAcquired&) {}
  virtual void on_released(const LockReleased&) {}
  virtual void on_lost(const LockLost&) {}

  virtual void on_leftover_removed(const LeftoverRemoved&) {}
  virtual void on_state_changed(const StateChanged&) {}
  virtual void on_server_changed(const ServerChanged&) {}
  virtual void on_heartbeat(const HeartbeatAnswered&) {}
};

}  // namespace zkrecipes
