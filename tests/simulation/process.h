// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tests/simulation/scheduler.h"

namespace zkrecipes::simulation {

/// A process of the simulated world: it has a clock that may drift, can be paused (what is due runs when it goes on)
/// and killed (nothing of it runs any more).
class Process {
 public:
  Process(Scheduler& scheduler, int number);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int number() const { return number_; }
  Scheduler& scheduler() { return scheduler_; }

  /// Its own clock, which starts at 0 when the process does.
  Time clock() const;
  /// Seconds of its own clock per second of the simulator's; 1.0 at first.
  void set_clock_rate(double rate);

  /// Runs `task` when `delay` has passed on its own clock; later if it is paused then, never if it is dead. Tasks that
  /// are due at the same moment run in the order in which they were posted.
  void post(Time delay, std::function<void()> task);

  void pause();
  void resume();
  void kill();
  bool is_paused() const { return state_->paused; }
  bool is_alive() const { return state_->alive; }

 private:
  /// Also owned by what was posted, which may outlive the process.
  struct State {
    bool alive = true;
    bool paused = false;
    std::vector<std::function<void()>> waiting;  // due while it was paused
  };
  static void run(const std::shared_ptr<State>& state, std::function<void()>& task);

  Scheduler& scheduler_;
  const int number_;
  Time rate_since_;    // on the simulator's clock
  Time clock_then_{};  // on its own
  double rate_ = 1.0;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace zkrecipes::simulation
