// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/fixture.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {

using namespace std::chrono_literals;

/// Runs a function on a thread of its own; joins when destroyed.
class Background {
 public:
  explicit Background(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          work();
          done_ = true;
        }) {}
  ~Background() { join(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  bool done() const { return done_; }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

/// Several threads that run at once; join() (or the destructor) waits for all.
class Crowd {
 public:
  Crowd() = default;
  Crowd(int size, const std::function<void(int)>& work) {
    for (int i = 0; i < size; ++i) add([work, i] { work(i); });
  }
  ~Crowd() { join(); }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  void add(std::function<void()> work) { threads_.emplace_back(std::move(work)); }
  void join() {
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  std::vector<std::thread> threads_;
};

/// Notices when two are inside at once. Only who may believe to hold enters: leave() must come before the hold ends.
class CriticalSection {
 public:
  void enter() {
    if (inside_.fetch_add(1) != 0) overlaps_.fetch_add(1);
    entries_.fetch_add(1);
  }
  void leave() { inside_.fetch_sub(1); }
  int overlaps() const { return overlaps_; }
  int entries() const { return entries_; }

 private:
  std::atomic<int> inside_{0};
  std::atomic<int> overlaps_{0};
  std::atomic<int> entries_{0};
};

/// Shared by the suites of all recipes.
class RecipeTest : public ServerTest {
 protected:
  static constexpr const char* kPath = "/lock";

  /// Waits until exactly this many acquires of the connection wait for somebody and nothing is under way any more.
  static bool wait_for_waiters(Connection& connection, std::size_t number) {
    return wait_for([&] {
      const auto load = load_of(connection);
      return load.watches == number && load.requests == 0;
    });
  }
  static bool wait_until_ready(const PendingHold& pending, std::chrono::milliseconds limit = kLimit) {
    return wait_for([&] { return pending.ready(); }, limit);
  }
  /// get() that cannot hang a test.
  static Hold get(PendingHold& pending) {
    if (!wait_until_ready(pending)) {
      ADD_FAILURE() << "not granted in time";
      return {};
    }
    return pending.get();
  }
  /// The nodes of holders and waiters at a lock path, as the server has them.
  std::vector<std::string> nodes_at(const std::string& path) { return plain().ephemerals_below(full(path)); }
  /// How many there are at a path where nobody waits. The place in a semaphore's line is removed behind the grant, so
  /// this waits until it is gone.
  std::size_t nodes_of_holders(Connection& connection, const std::string& path) {
    const auto all_hold = [&] {
      const auto all = contenders(connection, path);
      return std::all_of(all.begin(), all.end(), [](const Contender& each) { return each.holds; });
    };
    EXPECT_TRUE(wait_for(all_hold));
    return nodes_at(path).size();
  }
  bool wait_for_nodes(const std::string& path, std::size_t number) {
    return wait_for([&] { return nodes_at(path).size() == number; });
  }
  std::int64_t czxid_of(const std::string& node) {
    const auto stat = plain().stat(full(node));
    return stat ? stat->czxid : 0;
  }
  void expect_token_is_that_of_the_node(const Hold& hold) {
    EXPECT_GT(hold.token().zxid, 0);
    EXPECT_EQ(hold.token().zxid, czxid_of(hold.node())) << hold.node();
  }
};

/// For tests that expire sessions or stop servers; skipped where the servers are not ours.
class ControlledRecipeTest : public RecipeTest {
 protected:
  void SetUp() override {
    if (external_servers()) GTEST_SKIP() << "needs servers that it can control";
    RecipeTest::SetUp();
  }
};

/// Counts how often it was called.
struct CallCount {
  std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  /// For a callback of any type.
  auto handler() const {
    return [calls = calls](auto&&...) { ++*calls; };
  }
  int count() const { return *calls; }
  bool wait(int number = 1) const {
    return wait_for([&] { return count() >= number; });
  }
};

/// Holds a callback until the test opens it; opened when destroyed.
class Gate {
 public:
  ~Gate() { open(); }
  /// Waits until somebody opens it.
  void pass() const {
    const auto state = state_;  // the gate may be destroyed as soon as it is open
    state->reached = true;
    wait_for([&] { return state->open.load(); });
    state->passed = true;
  }
  void open() { state_->open = true; }
  bool wait_until_reached() const {
    return wait_for([&] { return state_->reached.load(); });
  }
  bool passed() const { return state_->passed; }

 private:
  struct State {
    std::atomic<bool> reached{false}, open{false}, passed{false};
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// How long to look for something that must not happen.
constexpr std::chrono::milliseconds kMoment{200};

/// The code of the Error that `action` throws; none if it throws none.
inline std::optional<std::error_code> error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    return error.code();
  }
  return std::nullopt;
}

}  // namespace zkrecipes::testing
