// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/event_checker.h"

#include "tests/simulation/stage.h"

namespace zkrecipes::simulation {

void EventChecker::check_all_ended() {
  if (begun_ != ended_)
    checker_.report(process_name(process_) + " has begun " + std::to_string(begun_) +
                        " attempts, and its observer heard of " + std::to_string(ended_) + " outcomes",
                    process_);
  for (const auto& [id, open] : open_)
    checker_.report(process_name(process_) + ": the observer did not hear of the end of " +
                        (open.state == State::held ? "hold " : "attempt ") + std::to_string(id),
                    process_);
}

void EventChecker::on_waiting(const LockWaiting& event) {
  if (!open_.emplace(event.id, Open{}).second && open_[event.id].state != State::waiting) report("a hold waits", event);
  if (event.queue_position < 0) report("waits at a position below 0", event);
}

void EventChecker::on_acquired(const LockAcquired& event) {
  if (!event.downgraded) attempt_ended(event);
  if (!open_.emplace(event.id, Open{State::held, event.token}).second) report("is acquired twice", event);
  if (event.token.zxid == 0 || event.permits < 1 || event.cost.waited < event.cost.waited.zero())
    report("is acquired with impossible values", event);
}

void EventChecker::on_not_acquired(const LockNotAcquired& event) {
  attempt_ended(event);
  if (event.status == AcquireStatus::granted) report("is granted and not acquired", event);
}

void EventChecker::on_released(const LockReleased& event) {
  hold_ended(event, event.token, event.held);
}

void EventChecker::on_lost(const LockLost& event) {
  hold_ended(event, event.token, event.held);
  if (event.text.empty()) report("is lost without a reason", event);
}

void EventChecker::on_state_changed(const StateChanged& event) {
  const bool has_session = event.state != ConnectionState::connecting && event.state != ConnectionState::closed;
  if (event.state == event.before || (has_session && event.session_id == 0))
    checker_.report(process_name(process_) + ": the observer hears of the state " + to_string(event.state) + " after " +
                        to_string(event.before) + ", session " + std::to_string(event.session_id),
                    process_);
}

void EventChecker::on_heartbeat(const HeartbeatAnswered& event) {
  if (event.round_trip < event.round_trip.zero() || event.lease_left.has_value() != (event.holds > 0))
    checker_.report(process_name(process_) + ": the observer hears of a heartbeat with impossible values", process_);
}

void EventChecker::attempt_ended(const LockEvent& event) {
  ++ended_;
  const auto found = open_.find(event.id);
  if (found == open_.end()) return;
  if (found->second.state != State::waiting) report("ends twice", event);
  open_.erase(found);
}

void EventChecker::hold_ended(const LockEvent& event, const FencingToken& token, std::chrono::nanoseconds held) {
  const auto found = open_.find(event.id);
  if (found == open_.end() || found->second.state != State::held) return report("ends, but is not held", event);
  if (found->second.token != token || held < held.zero()) report("ends with another token or before it began", event);
  open_.erase(found);
}

void EventChecker::report(const std::string& what, const LockEvent& event) {
  checker_.report(process_name(process_) + ": the observer hears that attempt " + std::to_string(event.id) + " for " +
                      event.lock->path + " " + what,
                  process_);
}

}  // namespace zkrecipes::simulation
