// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "zkrecipes/acquire_options.h"
#include "zkrecipes/acquire_result.h"
#include "zkrecipes/connection.h"
#include "zkrecipes/deadline.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/lock_options.h"
#include "zkrecipes/pending_hold.h"
#include "zkrecipes/stop_token.h"

namespace zkrecipes {

namespace detail {
class SemaphoreCore;
}

/// A number of permits shared between processes, granted in order of arrival. Only the first waiter watches the permits
/// (leases). Compatible with Curator's InterProcessSemaphoreV2 on the same path.
///
///     zkrecipes::Semaphore semaphore(connection, "/semaphores/printers", 3);
///     if (auto permit = semaphore.try_acquire_for(std::chrono::seconds(5))) {
///       print(document);
///     }  // the permit is released here
///     const zkrecipes::Hold all = semaphore.acquire(3);
///
/// Several permits are acquired as one: the first waiter keeps its place until it has all that it wants, so nobody
/// overtakes it, and two contenders that want many cannot block each other. (Curator's own acquire(n) can;
/// docs/znode_layout.md says when.) They are one Hold with one token, which is lost with any of its permits and
/// releases all of them. Hold::node() is the lease that was created first, and the token is that lease's. Tokens grow
/// in the order of grants. LockOptions::on_revoke is called with that node, whichever lease of the hold is asked for.
///
/// Each client counts with its own number of permits. Give all clients the same number: a client with a larger number
/// takes permits up to that number.
///
/// One path is for one kind of lock. An acquire throws Error(unusable_path) if a FairMutex, a ReadWriteLock or one of
/// their recursive kinds has a node at the path; and they refuse the path of a semaphore. (Locks of Curator do not, and
/// may then hold beside permits; docs/znode_layout.md says when.) If both begin at the same time one of them is
/// refused, or both are. The one that is refused leaves nothing that is in the way of the other. An empty folder
/// `leases` or `locks` of the semaphore may stay until the server removes it.
///
/// Thread-safety: all members may be called from any thread, except that the destructor must not run beside another
/// call. Lifetime: the semaphore may outlive its Connection; acquiring then throws ConnectionClosed. Permits (Hold) and
/// pending holds may outlive the semaphore. Destroying it takes no permit away, waits for nothing, and is allowed
/// inside callbacks. Blocking, tries and exceptions are those of FairMutex. In addition, an acquire of less than one
/// permit, or of more than there are, throws std::invalid_argument at once. LockOptions::version_token and retain are
/// not available here.
class Semaphore {
 public:
  /// Does no I/O. Throws std::invalid_argument if the path is no absolute node path or permits < 1, or with an option
  /// that is not available.
  Semaphore(Connection& connection, const std::string& path, int permits, const LockOptions& options = {});
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  // As FairMutex::acquire() and the other members of that group. Without a number of permits they take one. An empty
  // pair of braces is a number here (0, which is refused): write AcquireOptions() or StopToken().
  [[nodiscard]] Hold acquire(int permits = 1);
  [[nodiscard]] AcquireResult acquire(const StopToken& stop) { return acquire(1, stop); }
  [[nodiscard]] AcquireResult acquire(int permits, const StopToken& stop);
  /// Takes the permits if so many are free. Empty when they are not; a waiter is never overtaken. While permits are
  /// free, other contenders may be in the queue for the moment that it takes to serve them: the try joins the queue,
  /// waits for its turn, and is empty when a contender ahead of it leaves too few permits. It also gives up after two
  /// seconds in which no contender ahead was served, for example behind a process that has died.
  [[nodiscard]] AcquireResult try_acquire(int permits = 1);
  template <class Rep, class Period>
  [[nodiscard]] AcquireResult try_acquire_for(const std::chrono::duration<Rep, Period>& timeout,
                                              const StopToken& stop = {}) {
    return acquire_until(1, deadline_after(timeout), stop);
  }
  template <class Rep, class Period>
  [[nodiscard]] AcquireResult try_acquire_for(int permits, const std::chrono::duration<Rep, Period>& timeout,
                                              const StopToken& stop = {}) {
    return acquire_until(permits, deadline_after(timeout), stop);
  }
  template <class AnyClock, class Duration>
  [[nodiscard]] AcquireResult try_acquire_until(const std::chrono::time_point<AnyClock, Duration>& deadline,
                                                const StopToken& stop = {}) {
    return acquire_until(1, to_deadline(deadline), stop);
  }
  template <class AnyClock, class Duration>
  [[nodiscard]] AcquireResult try_acquire_until(int permits,
                                                const std::chrono::time_point<AnyClock, Duration>& deadline,
                                                const StopToken& stop = {}) {
    return acquire_until(permits, to_deadline(deadline), stop);
  }
  [[nodiscard]] PendingHold acquire_async(const AcquireOptions& options = {}) { return acquire_async(1, options); }
  [[nodiscard]] PendingHold acquire_async(int permits, const AcquireOptions& options = {});

  /// The number of permits as this object counts them now.
  int permits() const;
  /// Changes the number for this object, for those that wait, too; they keep their places. More permits: the first
  /// waiter is granted at once if there are enough now. Fewer: no hold is taken away, and nothing is granted until
  /// fewer permits are in use. An acquire that waits for more than the new number ends with Error(too_few_permits),
  /// since it would wait for ever. Does not block. Throws std::invalid_argument if permits < 1.
  void set_permits(int permits);

 private:
  AcquireResult acquire_until(int permits, Clock::time_point deadline, const StopToken& stop);
  std::unique_ptr<detail::SemaphoreCore> core_;
};

}  // namespace zkrecipes
