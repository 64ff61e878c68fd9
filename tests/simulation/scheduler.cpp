// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/scheduler.h"

#include <algorithm>
#include <utility>

namespace zkrecipes::simulation {

std::uint64_t Random::next() {
  // SplitMix64: a Weyl sequence whose values are mixed.
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

Time Random::between(Time least, Time most) {
  return least + Time(static_cast<std::int64_t>(fraction() * static_cast<double>((most - least).count())));
}

void Scheduler::at(Time time, std::function<void()> task) {
  heap_.push_back({std::max(time, now_), next_number_++, std::move(task)});
  std::push_heap(heap_.begin(), heap_.end(), Later{});
}

bool Scheduler::step() {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), Later{});
  Event event = std::move(heap_.back());
  heap_.pop_back();
  now_ = event.time;
  ++steps_;
  event.task();
  return true;
}

void Scheduler::run_until(Time time) {
  while (!heap_.empty() && heap_.front().time <= time) step();
  now_ = std::max(now_, time);
}

}  // namespace zkrecipes::simulation
