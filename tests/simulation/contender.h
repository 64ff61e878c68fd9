// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/event_checker.h"
#include "tests/simulation/lock_checker.h"
#include "tests/simulation/simulated_locks.h"
#include "tests/simulation/stage.h"

namespace zkrecipes::simulation {

/// A part of a program that wants one lock, over and over: it waits or gives up in one of the ways that the API has,
/// holds for a while, and releases. Reports callbacks that should not have been called, and calls that should not have
/// failed. Its actions are tasks of its process, so it must live as long as that runs.
class Contender {
 public:
  /// `events`: the observer of the connections.
  Contender(Stage& stage, std::shared_ptr<SimulatedWorld> world, const LockPath& path, bool chrooted,
            EventChecker& events);
  ~Contender();
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;

  /// From now on with this connection, which lives longer than the contender or until the next call.
  void use(const SimulatedConnection& connection);
  void start();
  /// Begins nothing any more; what it waits for now it waits for until it is served.
  void wind_down() { winding_down_ = true; }
  bool is_idle() const { return state_ == State::idle; }
  /// Its connection has been closed, which ends all waiting.
  void connection_closed();
  /// "waits for /a since 3.2 s", for a person.
  std::string describe() const;
  Time began() const { return began_; }  ///< its current attempt
  const LockPath& path() const { return path_; }

 private:
  enum class State { idle, waiting, holding };
  class ActiveHold;

  void later(Time delay, void (Contender::*step)());
  void begin();
  AcquireOptions draw_options();
  void plan_to_give_up();
  void give_up();
  void cancel();
  void change_permits();
  void on_ready(std::uint64_t attempt, AcquireResult result);
  void take(Hold hold);
  void on_lost(std::uint64_t attempt);
  void on_revoke(const std::string& node);
  void look();
  void downgrade();
  void downgraded(Hold read);
  void read_on();
  void release();
  void rest();
  void check_news_of_loss();
  void end_subscription();
  void check_note();
  void check_take_over(const Hold& hold);
  Time hold_time();
  LockKind draw_kind();
  std::string full(const std::string& node) const;
  std::vector<std::string> full(std::vector<std::string> nodes) const;
  void report(const std::string& what);

  Stage& stage_;
  const std::shared_ptr<SimulatedWorld> world_;
  Process& process_;
  const LockPath& path_;
  const bool chrooted_;
  EventChecker& events_;
  Random random_;

  const SimulatedConnection* connection_ = nullptr;
  std::unique_ptr<SimulatedLock> lock_;    // for the read/write lock: the write side
  std::unique_ptr<SimulatedLock> reader_;  // only there
  State state_ = State::idle;
  bool winding_down_ = false;
  std::uint64_t attempt_ = 0;  // what was posted for an earlier one does nothing
  LockKind kind_ = LockKind::fair;
  int number_ = 1;  // of permits, as this contender's semaphore counts them
  int wanted_ = 1;  // of them
  Time began_{};
  Clock::time_point began_by_own_clock_{};
  bool cancelled_ = false;
  bool drops_in_callback_ = false;
  bool downgrading_ = false;
  bool revoked_ = false;
  bool lost_ = false;     // on_lost was called
  bool listens_ = false;  // on_lost may be called
  bool has_executor_ = false;
  bool large_note_ = false;           // its lock has a note that is too large for the servers of this run
  bool too_large_ = false;            // the same of the lock object that this attempt has begun with
  std::uint64_t closed_attempt_ = 0;  // its connection was closed before the executor has run on_ready
  PendingHold pending_;
  StopSource stop_;
  bool stoppable_ = false;
  Clock::time_point deadline_{};
  Time retain_{};          // LockOptions::retain
  std::string last_node_;  // of the hold before
  bool retained_ = false;  // this hold is on the same node
  std::unique_ptr<ActiveHold> active_;
  Subscription subscription_;
  std::weak_ptr<int> owned_by_callback_;
  Subscription write_subscription_;                                        // of a re-entrant hold: ends with its write
  std::shared_ptr<Contender*> self_ = std::make_shared<Contender*>(this);  // for completions that may outlive it
};

}  // namespace zkrecipes::simulation
