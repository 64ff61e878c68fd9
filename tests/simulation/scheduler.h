// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace zkrecipes::simulation {

/// Since the start of a run, on the simulator's own clock.
using Time = std::chrono::nanoseconds;

/// Random numbers that depend on nothing but the seed, on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  /// In [0, below); below > 0.
  std::uint64_t below(std::uint64_t below) { return next() % below; }
  /// In [0, 1).
  double fraction() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return fraction() < probability; }
  Time between(Time least, Time most);

 private:
  std::uint64_t state_;
};

/// One thread, a virtual clock and a heap of events. Nothing sleeps: time jumps to the next event. Events at the same
/// moment run in the order in which they were scheduled.
class Scheduler {
 public:
  explicit Scheduler(std::uint64_t seed) : random_(seed) {}

  Time now() const { return now_; }
  Random& random() { return random_; }

  void at(Time time, std::function<void()> task);
  void after(Time delay, std::function<void()> task) { at(now_ + delay, std::move(task)); }

  /// Runs the next event; false when there is none.
  bool step();
  /// Runs all events up to `time`, and sets the clock to it.
  void run_until(Time time);
  std::uint64_t steps() const { return steps_; }

 private:
  struct Event {
    Time time;
    std::uint64_t number;
    std::function<void()> task;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time != b.time ? a.time > b.time : a.number > b.number;
    }
  };

  Random random_;
  Time now_{};
  std::uint64_t next_number_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<Event> heap_;
};

}  // namespace zkrecipes::simulation
