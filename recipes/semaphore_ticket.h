// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "connection/client.h"
#include "recipes/hold.h"
#include "recipes/queue_ticket.h"
#include "recipes/ticket.h"
#include "zkrecipes/lock_options.h"

namespace zkrecipes::recipes {

/// Shared by the tickets of a semaphore.
struct SemaphoreSpec {
  SemaphoreSpec(const std::string& path_, int permits_, LockOptions options_)
      : path(path_),
        leases(connection::join(path_, "leases")),
        line(std::make_shared<const QueueSpec>(
            QueueSpec{connection::join(path_, "locks"), NodeKind::lock, {}, connection::NodeRole::waits})),
        permits(permits_),
        options(std::move(options_)) {}

  const std::string path;
  const std::string leases;
  const std::shared_ptr<const QueueSpec> line;
  const int permits;
  const LockOptions options;
};

/// One attempt to get a permit: take the mutex under "locks", which makes us the head of the line, create a lease under
/// "leases", and wait until there are no more leases than permits. The mutex is given back with the outcome. Only the
/// head of the line watches the leases.
///
/// A lost session loses mutex and lease together, so we start anew at the back. Thread-safe; lives as long as its
/// completions are outstanding.
class SemaphoreTicket final : public Ticket, public std::enable_shared_from_this<SemaphoreTicket> {
 public:
  SemaphoreTicket(std::shared_ptr<connection::Client> client, std::shared_ptr<const SemaphoreSpec> spec,
                  Patience patience);

  void join(OutcomeHandler done) override;
  bool leave() override;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Turn = std::shared_ptr<HeldNode>;  // the mutex; identifies the attempt that it began

  void look_before_joining();
  void queue_up();
  void on_turn(const std::shared_ptr<QueueTicket>& ticket, Outcome outcome);
  void create_lease(const Turn& turn);
  void on_lease_created(const Turn& turn, connection::Status status, connection::CreatedNode lease);
  void count_leases(const Turn& turn);
  void watch_leases(const Turn& turn);
  void on_leases_listed(const Turn& turn, const connection::Reply& reply, bool watched);
  void grant(Lock& lock, const Turn& turn, bool just_proved);
  void start_anew(Lock& lock);
  void fail(Lock& lock, std::exception_ptr error);
  void stop(Lock& lock);
  bool is_current(const Turn& turn) const { return done_ && turn_ == turn; }

  const std::shared_ptr<connection::Client> client_;
  const std::shared_ptr<const SemaphoreSpec> spec_;
  const Patience patience_;
  const Clock::time_point started_ = Clock::now();

  std::mutex mutex_;
  // All below: guarded by mutex_.
  OutcomeHandler done_;                  // empty: decided, or left
  std::shared_ptr<QueueTicket> ticket_;  // while queueing
  Turn turn_;                            // while at the head of the line
  connection::Session::ListenerId session_listener_ = 0;
  connection::CreatedNode lease_;  // path empty until created
  bool counted_too_early_ = false;
  connection::WatchId watch_ = 0;
  AcquisitionCost cost_;
};

}  // namespace zkrecipes::recipes
