// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fixture.h"
#include "zkrecipes/observer.h"

namespace zkrecipes::testing {

/// Remembers all events and checks that they pair, as zkrecipes::Observer promises.
class EventLog : public Observer {
 public:
  void on_waiting(const LockWaiting& event) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(event);
    names_.push_back("waiting");
    EXPECT_TRUE(states_.emplace(event.id, "waiting").first->second == "waiting") << event.id << " waits, but has ended";
  }
  void on_acquired(const LockAcquired& event) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    acquired_.push_back(event);
    names_.push_back("acquired");
    end_attempt(event, "held");
  }
  void on_not_acquired(const LockNotAcquired& event) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    not_acquired_.push_back(event);
    names_.push_back(to_string(event.status));
    end_attempt(event, "over");
  }
  void on_released(const LockReleased& event) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    released_.push_back(event);
    names_.push_back("released");
    end_hold(event);
  }
  void on_lost(const LockLost& event) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    lost_.push_back(event);
    names_.push_back("lost");
    end_hold(event);
  }
  void on_leftover_removed(const LeftoverRemoved& event) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    leftovers_.push_back(event);
  }
  void on_state_changed(const StateChanged& event) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    states_seen_.push_back(event);
  }
  void on_server_changed(const ServerChanged& event) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    servers_.push_back(event);
  }
  void on_heartbeat(const HeartbeatAnswered& event) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    heartbeats_.push_back(event);
  }

  std::vector<std::string> names() const { return copy(names_); }  ///< of the events about locks
  std::vector<LockWaiting> waiting() const { return copy(waiting_); }
  std::vector<LockAcquired> acquired() const { return copy(acquired_); }
  std::vector<LockNotAcquired> not_acquired() const { return copy(not_acquired_); }
  std::vector<LockReleased> released() const { return copy(released_); }
  std::vector<LockLost> lost() const { return copy(lost_); }
  std::vector<LeftoverRemoved> leftovers() const { return copy(leftovers_); }
  std::vector<StateChanged> states() const { return copy(states_seen_); }
  std::vector<ServerChanged> servers() const { return copy(servers_); }
  std::vector<HeartbeatAnswered> heartbeats() const { return copy(heartbeats_); }

  /// An event may be reported a moment after the call that caused it has returned.
  bool wait_for_names(const std::vector<std::string>& expected) const {
    return wait_for([&] { return names() == expected; });
  }
  /// Attempts and holds that have not ended.
  std::size_t open() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::size_t count = 0;
    for (const auto& [id, state] : states_) count += state != "over" ? 1 : 0;
    return count;
  }

 private:
  void end_attempt(const LockEvent& event, const std::string& next) {
    const std::string before = std::exchange(states_[event.id], next);
    EXPECT_TRUE(before.empty() || before == "waiting") << event.id << " ends, but was " << before;
  }
  void end_hold(const LockEvent& event) { EXPECT_EQ(std::exchange(states_[event.id], "over"), "held") << event.id; }
  template <class Items>
  Items copy(const Items& items) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return items;
  }

  mutable std::mutex mutex_;
  // All guarded by mutex_.
  std::map<std::uint64_t, std::string> states_;
  std::vector<std::string> names_;
  std::vector<LockWaiting> waiting_;
  std::vector<LockAcquired> acquired_;
  std::vector<LockNotAcquired> not_acquired_;
  std::vector<LockReleased> released_;
  std::vector<LockLost> lost_;
  std::vector<LeftoverRemoved> leftovers_;
  std::vector<StateChanged> states_seen_;
  std::vector<ServerChanged> servers_;
  std::vector<HeartbeatAnswered> heartbeats_;
};

}  // namespace zkrecipes::testing
