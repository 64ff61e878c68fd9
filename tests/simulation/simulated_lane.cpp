// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/simulated_lane.h"

#include <algorithm>
#include <utility>

#include "connection/guarded_call.h"
#include "tests/simulation/simulated_world.h"

namespace zkrecipes::simulation {

namespace {
// Rounding between clocks must not let a timer fire before its time again and again without time passing.
constexpr Time kTimerSlack = std::chrono::microseconds(1);
}  // namespace

SimulatedLane::SimulatedLane(SimulatedWorld& world) : core_(std::make_shared<Core>(world)) {}

SimulatedLane::~SimulatedLane() {
  stop(Rest::drop);
}

void SimulatedLane::post(std::function<void()> task) {
  if (core_->stopped) return;
  core_->tasks.push_back(std::move(task));
  ++core_->posted;
  schedule(core_);
}

void SimulatedLane::post_at(Clock::time_point time, std::function<void()> task) {
  if (core_->stopped) return;
  const TimerKey key(time, core_->posted++);
  core_->timed.emplace(key, std::move(task));
  arm(core_, key);
}

void SimulatedLane::arm(const std::shared_ptr<Core>& core, const TimerKey& key) {
  const Time delay = std::max<Time>(key.first - core->world.now(), Time::zero()) + kTimerSlack;
  core->world.process().post(delay, [core, key] {
    const auto due = core->timed.find(key);
    if (due == core->timed.end()) return;                      // drained or stopped meanwhile
    if (core->world.now() < key.first) return arm(core, key);  // the clock has become slower
    core->tasks.push_back(std::move(due->second));
    core->timed.erase(due);
    schedule(core);
  });
}

bool SimulatedLane::on_this_thread() const noexcept {
  return core_->running;
}

void SimulatedLane::drain() {
  while (!core_->tasks.empty() || !core_->timed.empty()) {
    while (!core_->timed.empty()) {
      core_->tasks.push_back(std::move(core_->timed.begin()->second));
      core_->timed.erase(core_->timed.begin());
    }
    run_all(*core_);
  }
}

void SimulatedLane::finish() {
  if (!core_->running) run_all(*core_);
}

std::uint64_t SimulatedLane::posted() const {
  return core_->posted;
}

void SimulatedLane::stop(Rest rest) {
  core_->stopped = true;
  if (rest == Rest::run && !core_->running) run_all(*core_);
  // Destroyed here and not in the container: what a task owns may call back.
  const auto tasks = std::exchange(core_->tasks, {});
  const auto timed = std::exchange(core_->timed, {});
}

void SimulatedLane::schedule(const std::shared_ptr<Core>& core) {
  if (core->scheduled) return;
  core->scheduled = true;
  core->world.process().post(core->world.scheduling_delay(), [core] {
    core->scheduled = false;
    // A task that waits lets the simulation run on beneath it, but the lane runs one task at a time.
    if (!core->running && !core->tasks.empty()) run_one(*core);
    if (!core->tasks.empty()) schedule(core);
  });
}

void SimulatedLane::run_one(Core& core) {
  auto task = std::move(core.tasks.front());
  core.tasks.pop_front();
  core.running = true;
  detail::call_guarded(detail::process_log(), "a task of a simulated lane", task);
  task = nullptr;
  core.running = false;
}

void SimulatedLane::run_all(Core& core) {
  while (!core.tasks.empty()) run_one(core);
}

}  // namespace zkrecipes::simulation
