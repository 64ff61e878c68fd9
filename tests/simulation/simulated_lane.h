// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "connection/world.h"

namespace zkrecipes::simulation {

class SimulatedWorld;

/// A lane whose tasks are tasks of a simulated process, each after a small delay. Whatever waits for the lane in the
/// real world runs its tasks on the spot here.
class SimulatedLane final : public detail::Lane {
 public:
  explicit SimulatedLane(SimulatedWorld& world);
  ~SimulatedLane() override;

  void post(std::function<void()> task) override;
  void post_at(Clock::time_point time, std::function<void()> task) override;
  bool on_this_thread() const noexcept override;
  void drain() override;
  void finish() override;
  void finish_soon() override {}
  std::uint64_t posted() const override;
  void stop(Rest rest) override;

 private:
  using TimerKey = std::pair<Clock::time_point, std::uint64_t>;
  /// Also owned by what is scheduled, which may outlive the lane.
  struct Core {
    explicit Core(SimulatedWorld& its_world) : world(its_world) {}
    SimulatedWorld& world;
    std::deque<std::function<void()>> tasks;
    std::map<TimerKey, std::function<void()>> timed;
    std::uint64_t posted = 0;
    bool scheduled = false;  // a task of the process will look for tasks
    bool running = false;
    bool stopped = false;
  };
  static void schedule(const std::shared_ptr<Core>& core);
  static void arm(const std::shared_ptr<Core>& core, const TimerKey& key);
  static void run_one(Core& core);
  static void run_all(Core& core);

  const std::shared_ptr<Core> core_;
};

}  // namespace zkrecipes::simulation
