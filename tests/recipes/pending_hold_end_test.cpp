// SPDX-License-Identifier: Apache-2.0
// A PendingHold that is destroyed, moved or assigned over at each moment of its life, and what becomes of its callback.
#include <gtest/gtest.h>
#include <random>
#include <tuple>

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class PendingHoldEndFixture : public ControlledRecipeTest {
 protected:
  /// Returns when all callbacks that were queued before have run.
  static void let_queued_callbacks_run(Connection& connection) {
    FairMutex elsewhere(connection, "/elsewhere");
    PendingHold last = elsewhere.acquire_async();
    CallCount reached;
    last.on_ready(reached.handler());
    ASSERT_TRUE(reached.wait());
  }
};

enum class Moment { before_joining, waiting, granted, callback_queued, after_the_callback };
enum class End { destroyed, assigned_over, moved };

std::ostream& operator<<(std::ostream& out, Moment moment) {
  static const char* const names[] = {"BeforeJoining", "Waiting", "Granted", "CallbackQueued", "AfterTheCallback"};
  return out << names[static_cast<int>(moment)];
}
std::ostream& operator<<(std::ostream& out, End end) {
  static const char* const names[] = {"Destroyed", "AssignedOver", "Moved"};
  return out << names[static_cast<int>(end)];
}

class PendingHoldEndTest : public PendingHoldEndFixture,
                           public ::testing::WithParamInterface<std::tuple<Moment, End>> {};

TEST_P(PendingHoldEndTest, TheCallbackBelongsToThePendingHold) {
  const auto [moment, end] = GetParam();
  Connection& other = connect();
  FairMutex blocker(other, kPath);
  Hold blocking;
  if (moment == Moment::waiting) blocking = blocker.acquire();
  if (moment == Moment::before_joining) proxy().refuse(true);
  Connection& connection = begin_connect(options_by_proxy());
  FairMutex mutex(connection, kPath), busy(connection, "/busy");

  Gate gate;
  PendingHold blocks_the_lane;
  if (moment == Moment::callback_queued) {
    blocks_the_lane = busy.acquire_async();
    blocks_the_lane.on_ready([&](const AcquireResult&) { gate.pass(); });
    ASSERT_TRUE(gate.wait_until_reached());
  }
  CallCount calls, valid;
  const auto callback = [&](const AcquireResult& result) {
    if (result && result->is_valid()) valid.handler()();
    calls.handler()();
  };
  auto pending = std::make_unique<PendingHold>(mutex.acquire_async());
  if (moment != Moment::granted) pending->on_ready(callback);
  switch (moment) {
    case Moment::before_joining:
      break;
    case Moment::waiting:
      ASSERT_TRUE(wait_for_waiters(connection, 1));
      break;
    case Moment::granted:
    case Moment::callback_queued:
      ASSERT_TRUE(wait_until_ready(*pending));
      break;
    case Moment::after_the_callback:
      ASSERT_TRUE(calls.wait());
      break;
  }

  PendingHold heir;
  switch (end) {
    case End::destroyed:
      pending.reset();
      break;
    case End::assigned_over:
      *pending = PendingHold();
      break;
    case End::moved:
      heir = std::move(*pending);
      pending.reset();
      break;
  }
  const int before = calls.count();
  EXPECT_EQ(before, moment == Moment::after_the_callback ? 1 : 0);

  if (end == End::moved && moment == Moment::granted) heir.on_ready(callback);
  gate.open();
  if (moment == Moment::before_joining) proxy().refuse(false);
  ASSERT_TRUE(wait_for_state(connection, ConnectionState::connected));
  if (moment == Moment::waiting) blocking.release();
  if (end == End::moved) {
    ASSERT_TRUE(calls.wait());
    EXPECT_EQ(valid.count(), 1);
    EXPECT_TRUE(heir.ready());
  }
  let_queued_callbacks_run(connection);
  EXPECT_EQ(calls.count(), end == End::moved ? 1 : before);
}

INSTANTIATE_TEST_SUITE_P(Moments, PendingHoldEndTest,
                         ::testing::Combine(::testing::Values(Moment::before_joining, Moment::waiting, Moment::granted,
                                                              Moment::callback_queued, Moment::after_the_callback),
                                            ::testing::Values(End::destroyed, End::assigned_over, End::moved)),
                         [](const auto& param) {
                           std::ostringstream name;
                           name << std::get<0>(param.param) << "_" << std::get<1>(param.param);
                           return name.str();
                         });

class PendingHoldCallbackTest : public PendingHoldEndFixture {};

TEST_F(PendingHoldCallbackTest, DestroyedWhileTheCallbackRuns_WaitsForItsEnd) {
  for (const bool assign : {false, true}) {
    FairMutex mutex(connect(), kPath);
    auto pending = std::make_unique<PendingHold>(mutex.acquire_async());
    Gate gate;
    pending->on_ready([&](const AcquireResult&) { gate.pass(); });
    ASSERT_TRUE(gate.wait_until_reached());
    std::atomic<bool> passed_before{false};
    Background destroyer([&] {
      if (assign)
        *pending = PendingHold();
      else
        pending.reset();
      passed_before = gate.passed();
    });
    EXPECT_FALSE(wait_for([&] { return destroyer.done(); }, kMoment));
    gate.open();
    destroyer.join();
    EXPECT_TRUE(passed_before);
  }
}

TEST_F(PendingHoldCallbackTest, MovedWhileTheCallbackRuns_TheNewOneWaitsForItsEnd) {
  FairMutex mutex(connect(), kPath);
  PendingHold pending = mutex.acquire_async();
  Gate gate;
  pending.on_ready([&](const AcquireResult&) { gate.pass(); });
  ASSERT_TRUE(gate.wait_until_reached());
  auto heir = std::make_unique<PendingHold>(std::move(pending));
  Background destroyer([&] { heir.reset(); });
  EXPECT_FALSE(wait_for([&] { return destroyer.done(); }, kMoment));
  gate.open();
}

TEST_F(PendingHoldCallbackTest, InsideItsOwnCallback_ItMayBeDestroyedMovedAndAssignedOver) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  for (const End end : {End::destroyed, End::assigned_over, End::moved}) {
    auto pending = std::make_unique<PendingHold>(mutex.acquire_async());
    PendingHold heir;
    CallCount calls;
    pending->on_ready([&](const AcquireResult&) {
      if (end == End::destroyed) pending.reset();
      if (end == End::assigned_over) *pending = mutex.acquire_async();
      if (end == End::moved) heir = std::move(*pending);
      calls.handler()();
    });
    ASSERT_TRUE(calls.wait());
    let_queued_callbacks_run(connection);
    EXPECT_EQ(calls.count(), 1);
    if (end == End::destroyed) continue;
    PendingHold& left = end == End::moved ? heir : *pending;
    EXPECT_TRUE(wait_until_ready(left));
  }
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(PendingHoldCallbackTest, InsideTheCallbackOfAnother_ADestroyedOneIsNeverCalled) {
  Connection& connection = connect();
  FairMutex first(connection, "/first"), second(connection, "/second");
  PendingHold one = first.acquire_async();
  auto two = std::make_unique<PendingHold>(second.acquire_async());
  CallCount calls, done;
  ASSERT_TRUE(wait_until_ready(one));
  ASSERT_TRUE(wait_until_ready(*two));
  one.on_ready([&](const AcquireResult&) {
    two->on_ready(calls.handler());  // queued behind this callback
    two.reset();
    done.handler()();
  });
  ASSERT_TRUE(done.wait());
  let_queued_callbacks_run(connection);
  EXPECT_EQ(calls.count(), 0);
}

TEST_F(PendingHoldCallbackTest, ACallbackThatRegistersAnother_IsRefused) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  PendingHold pending = mutex.acquire_async();
  CallCount again, refused;
  pending.on_ready([&](const AcquireResult&) {
    EXPECT_THROW(pending.on_ready(again.handler()), std::logic_error);
    refused.handler()();
  });
  ASSERT_TRUE(refused.wait());
  let_queued_callbacks_run(connection);
  EXPECT_EQ(again.count(), 0);
}

TEST_F(PendingHoldCallbackTest, WhatTheCallbackOwns_IsDestroyedWithThePendingHold) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath);
  const Hold hold = mutex.acquire();
  const auto owned = std::make_shared<int>(0);
  {
    PendingHold pending = mutex.acquire_async();
    pending.on_ready([owned](const AcquireResult&) {});
    ASSERT_TRUE(wait_for_waiters(waiting, 1));
  }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST_F(PendingHoldCallbackTest, ACancelledOne_IsStillCalledUntilItIsDestroyed) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath), busy(waiting, "/busy");
  const Hold hold = mutex.acquire();
  Gate gate;
  PendingHold blocks_the_lane = busy.acquire_async();
  blocks_the_lane.on_ready([&](const AcquireResult&) { gate.pass(); });
  ASSERT_TRUE(gate.wait_until_reached());
  CallCount kept, dropped;
  PendingHold stays = mutex.acquire_async();
  stays.on_ready(kept.handler());
  {
    PendingHold goes = mutex.acquire_async();
    goes.on_ready(dropped.handler());
    goes.cancel();
    stays.cancel();
  }
  gate.open();
  ASSERT_TRUE(kept.wait());
  let_queued_callbacks_run(waiting);
  EXPECT_EQ(kept.count(), 1);
  EXPECT_EQ(dropped.count(), 0);
}

TEST_F(PendingHoldCallbackTest, DestroyedAtAnyMoment_NoCallbackTouchesWhatIsGone) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  /// As in a program: the callback uses the object that owns the PendingHold.
  struct Job {
    ~Job() {
      pending = PendingHold();
      alive = false;
    }
    std::atomic<bool> alive{true};
    std::atomic<int> calls{0};
    PendingHold pending;
  };
  std::atomic<int> too_late{0}, called{0};
  Crowd crowd(3, [&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    for (int i = 0; i < 40; ++i) {
      const auto job = std::make_unique<Job>();
      job->pending = mutex.acquire_async();
      job->pending.on_ready([raw = job.get(), &too_late, &called](const AcquireResult&) {
        if (!raw->alive) ++too_late;
        ++raw->calls;
        ++called;
      });
      const auto until = Clock::now() + std::chrono::microseconds(random() % 3000);
      while (Clock::now() < until) std::this_thread::yield();
    }
  });
  crowd.join();
  let_queued_callbacks_run(connection);
  EXPECT_EQ(too_late, 0) << called << " were called";
}

}  // namespace
}  // namespace zkrecipes::testing
