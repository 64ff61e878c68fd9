// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "connection/client.h"
#include "recipes/acquisition.h"
#include "recipes/ticket.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/pending_hold.h"

namespace zkrecipes::recipes {

/// What all lock types have in common, given how to make a ticket: the blocking and asynchronous acquires, and the hold
/// that lock() keeps until unlock(). Thread-safe.
class LockCore {
 public:
  using TicketFactory = std::function<std::shared_ptr<Ticket>(Patience)>;

  LockCore(std::shared_ptr<connection::Client> client, std::string path, TicketFactory make_ticket);

  Hold acquire();
  std::optional<Hold> try_acquire();
  std::optional<Hold> try_acquire_until(Clock::time_point deadline);
  PendingHold acquire_async();

  void lock();
  bool try_lock();
  bool try_lock_until(Clock::time_point deadline);
  void unlock() noexcept;

  bool is_held() const noexcept;
  FencingToken fencing_token() const;
  Subscription on_lost(std::function<void()> callback);

  const std::shared_ptr<connection::Client>& client() const { return client_; }
  const std::string& path() const { return path_; }

 private:
  std::shared_ptr<Acquisition> begin(Patience patience);
  bool keep(std::optional<Hold> hold);
  const Hold* current() const;

  const std::shared_ptr<connection::Client> client_;
  const std::string path_;
  const TicketFactory make_ticket_;

  // What lock() keeps until the same thread unlocks. Usually one; several for a shared lock, and when a hold was lost
  // and another thread has the lock before the first has unlocked: that unlock() must not hit the second one's hold.
  struct Kept {
    std::thread::id owner;
    Hold hold;
  };
  mutable std::mutex mutex_;
  std::vector<Kept> kept_;  // guarded by mutex_; the newest last
};

}  // namespace zkrecipes::recipes
