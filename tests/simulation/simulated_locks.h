// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zkrecipes/acquire_options.h"
#include "zkrecipes/connection_options.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/lock_options.h"
#include "zkrecipes/pending_hold.h"

namespace zkrecipes::detail {
class LockCore;
class ReentrantHold;
class SemaphoreCore;
class World;
class ZookeeperClient;
}  // namespace zkrecipes::detail

// The only place in the simulation that knows how connections and locks are made inside the library. The public classes
// connect to the real world; these connect to a given one.

namespace zkrecipes::simulation {

/// A Connection in a given world.
class SimulatedConnection {
 public:
  SimulatedConnection(ConnectionOptions options, std::shared_ptr<detail::World> world);
  ~SimulatedConnection();  ///< close()

  void close();
  /// As Connection::set_servers().
  void set_servers(std::string servers);

  /// What is still open on behalf of locks.
  struct Load {
    std::size_t requests = 0;
    std::size_t watches = 0;
    std::size_t probes = 0;
    std::size_t timers = 0;
    bool is_zero() const { return requests == 0 && watches == 0 && probes == 0 && timers == 0; }
  };
  Load load() const;

  /// Then callbacks may be called after close() has returned.
  bool has_executor() const { return has_executor_; }
  const std::shared_ptr<detail::ZookeeperClient>& client() const { return client_; }

 private:
  const bool has_executor_;
  const std::shared_ptr<detail::ZookeeperClient> client_;
};

enum class LockKind { fair, simple, semaphore, read, write };
const char* to_string(LockKind kind);

/// What a thread has of a RecursiveReadWriteLock that it has locked for writing, without the thread.
class SimulatedReentrantHold {
 public:
  explicit SimulatedReentrantHold(std::unique_ptr<detail::ReentrantHold> held);
  ~SimulatedReentrantHold();

  // As in RecursiveReadWriteLock. The end is left to the destructor.
  void lock();
  void lock_shared();
  void unlock();
  Subscription on_lost(std::function<void()> callback);
  Subscription on_lost_shared(std::function<void()> callback);

  // About the hold behind it, whatever is locked.
  bool is_valid() const;
  Clock::time_point valid_until() const;
  FencingToken token() const;
  std::string node() const;

 private:
  const std::unique_ptr<detail::ReentrantHold> held_;
};

/// One of the public lock classes, with the asynchronous half of its API.
class SimulatedLock {
 public:
  SimulatedLock(const SimulatedConnection& connection, LockKind kind, const std::string& path, int permits,
                LockOptions options);
  ~SimulatedLock();

  PendingHold acquire_async(const AcquireOptions& options = {}, int permits = 1);
  /// Of a semaphore.
  void set_permits(int permits);

  /// As ReadWriteLock::downgrade() without waiting: `done` is called with the read hold, or with an empty one when
  /// there is none. The caller keeps `write` until then.
  void downgrade_async(const Hold& write, std::function<void(Hold)> done);

  /// As if RecursiveReadWriteLock::lock() had got this hold.
  std::unique_ptr<SimulatedReentrantHold> reentrant(Hold write) const;

 private:
  const std::shared_ptr<detail::ZookeeperClient> client_;
  const std::string path_;
  const std::shared_ptr<const LockOptions> options_;
  std::unique_ptr<detail::LockCore> core_;
  detail::SemaphoreCore* semaphore_ = nullptr;  // the same, if it is one
};

/// The note that the data of a lock node contain; none if a revocation request has overwritten it.
std::optional<std::string> note_in(std::string_view data);

/// All nodes of a hold, the one of Hold::node() first.
std::vector<std::string> nodes_of(const Hold& hold);

/// As zkrecipes::request_revoke() without waiting for the outcome, and without another attempt.
void request_revoke(const SimulatedConnection& connection, const std::string& node);

}  // namespace zkrecipes::simulation
