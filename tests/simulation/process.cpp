// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/process.h"

#include <utility>

namespace zkrecipes::simulation {

namespace {
Time scaled(Time time, double factor) {
  if (factor == 1.0) return time;
  return Time(static_cast<std::int64_t>(static_cast<double>(time.count()) * factor));
}
}  // namespace

Process::Process(Scheduler& scheduler, int number)
    : scheduler_(scheduler), number_(number), rate_since_(scheduler.now()) {}

Time Process::clock() const {
  return clock_then_ + scaled(scheduler_.now() - rate_since_, rate_);
}

void Process::set_clock_rate(double rate) {
  clock_then_ = clock();
  rate_since_ = scheduler_.now();
  rate_ = rate;
}

void Process::run(const std::shared_ptr<State>& state, std::function<void()>& task) {
  if (!state->alive) return;
  if (state->paused)
    state->waiting.push_back(std::move(task));
  else
    task();
}

void Process::post(Time delay, std::function<void()> task) {
  if (!state_->alive) return;
  scheduler_.after(scaled(delay, 1.0 / rate_),
                   [state = state_, task = std::move(task)]() mutable { run(state, task); });
}

void Process::pause() {
  state_->paused = true;
}

void Process::resume() {
  state_->paused = false;
  for (auto& task : std::exchange(state_->waiting, {}))
    scheduler_.after(Time::zero(), [state = state_, task = std::move(task)]() mutable { run(state, task); });
}

void Process::kill() {
  state_->alive = false;
  state_->waiting.clear();
}

}  // namespace zkrecipes::simulation
