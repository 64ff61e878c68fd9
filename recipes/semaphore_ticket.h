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
/// A ticket that only tries fails when all permits are taken. A line that is not empty does not mean that: contenders
/// stand there for a moment while they are being served. So the ticket joins the line then, and watches the leases
/// until its turn: it fails as soon as there are as many leases as permits, or when nothing has moved for a while.
///
/// A lost session loses mutex and lease together, so we rejoin at the back. Thread-safe; lives as long as its
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
  void stand_in_busy_line();
  void on_leases_seen_from_the_line(const connection::Reply& reply);
  void expect_progress();
  void queue_up(Patience patience);
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
  bool all_taken(const connection::Reply& reply) const {
    return reply.children.size() >= static_cast<std::size_t>(spec_->permits);
  }

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
  connection::WatchId watch_ = 0;  // on the leases
  bool in_busy_line_ = false;      // a try, behind others that are being served
  int movements_ = 0;              // seen from the line
  AcquisitionCost cost_;
};

}  // namespace zkrecipes::recipes
