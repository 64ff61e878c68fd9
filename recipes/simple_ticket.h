// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "connection/client.h"
#include "recipes/hold.h"
#include "recipes/ticket.h"
#include "zkrecipes/lock_options.h"

namespace zkrecipes::recipes {

/// One attempt at a SimpleLock: create the node; if it is there already, watch it, and race again when it goes.
/// The guid in the node's data tells our own lost create from another holder of the same session; once the create is
/// answered, the node is known by its czxid.
/// Thread-safe; lives as long as its completions are outstanding.
class SimpleTicket final : public Ticket, public std::enable_shared_from_this<SimpleTicket> {
 public:
  SimpleTicket(std::shared_ptr<connection::Client> client, std::string path, LockOptions options, Patience patience);

  void join(OutcomeHandler done) override;
  bool leave() override;

 private:
  using Lock = std::unique_lock<std::mutex>;

  void await_session();
  void begin(const connection::SessionPtr& session);
  void race(const connection::SessionPtr& session);
  void on_created(const connection::SessionPtr& session, connection::Status status, const connection::CreatedNode& node,
                  bool just_proved);
  void watch_holder(const connection::SessionPtr& session);
  void finish(Lock& lock, Outcome outcome);
  void restart(Lock& lock);
  void stop(Lock& lock);
  bool is_current(const connection::SessionPtr& session) const { return done_ && session_ == session; }

  const std::shared_ptr<connection::Client> client_;
  const std::string path_;
  const LockOptions options_;
  const Patience patience_;
  const Clock::time_point started_ = Clock::now();

  std::mutex mutex_;
  // All below: guarded by mutex_.
  OutcomeHandler done_;  // empty: decided, or left
  connection::AwaitId awaited_session_ = 0;
  connection::SessionPtr session_;  // completions of an earlier one find that it is not this one
  connection::Session::ListenerId session_listener_ = 0;
  std::string guid_;
  connection::WatchId watch_ = 0;
  bool positioned_ = false;
  AcquisitionCost cost_;
};

}  // namespace zkrecipes::recipes
