// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "tests/simulation/lock_checker.h"
#include "zkrecipes/observer.h"

namespace zkrecipes::simulation {

/// The observer of the connections of one process. Reports events that do not pair: see zkrecipes::Observer.
class EventChecker final : public Observer {
 public:
  EventChecker(LockChecker& checker, int process) : checker_(checker), process_(process) {}

  /// The process has begun an attempt.
  void begun() { ++begun_; }
  /// Everything is idle: each attempt has ended, and so has each hold.
  void check_all_ended();

  void on_waiting(const LockWaiting& event) override;
  void on_acquired(const LockAcquired& event) override;
  void on_not_acquired(const LockNotAcquired& event) override;
  void on_released(const LockReleased& event) override;
  void on_lost(const LockLost& event) override;
  void on_state_changed(const StateChanged& event) override;
  void on_heartbeat(const HeartbeatAnswered& event) override;

 private:
  enum class State { waiting, held };
  void attempt_ended(const LockEvent& event);
  void hold_ended(const LockEvent& event, const FencingToken& token, std::chrono::nanoseconds held);
  void report(const std::string& what, const LockEvent& event);

  LockChecker& checker_;
  const int process_;
  std::uint64_t begun_ = 0;
  std::uint64_t ended_ = 0;
  struct Open {
    State state = State::waiting;
    FencingToken token{};
  };
  std::unordered_map<std::uint64_t, Open> open_;
};

}  // namespace zkrecipes::simulation
