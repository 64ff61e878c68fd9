// SPDX-License-Identifier: Apache-2.0
// Which callbacks wait for each other, and what close() and the destructor of a connection promise about them.
#include <gmock/gmock.h>
#include <mutex>

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class CallbackLanesTest : public ControlledRecipeTest {
 protected:
  /// An on_ready() that blocks until the gate is open.
  static PendingHold block(FairMutex& mutex, Gate& gate) {
    PendingHold pending = mutex.acquire_async();
    pending.on_ready([&gate](const AcquireResult&) { gate.pass(); });
    EXPECT_TRUE(gate.wait_until_reached());
    return pending;
  }
  /// Waits until a callback that this brings about is in the gate.
  void lose_session_until(Connection& connection, const Gate& gate) {
    expire_session(connection);
    ASSERT_TRUE(gate.wait_until_reached());
  }
};

TEST_F(CallbackLanesTest, ASlowOnReady_DelaysNeitherOnLostNorStates) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath), busy(connection, "/busy");
  const Hold hold = mutex.acquire();
  CallCount lost, states;
  const Subscription subscription = hold.on_lost(lost.handler());
  const Subscription state_subscription = connection.on_state_change([&](ConnectionState) { states.handler()(); });
  Gate gate;
  const PendingHold pending = block(busy, gate);
  expire_session(connection);
  EXPECT_TRUE(lost.wait());
  EXPECT_TRUE(states.wait(2)) << "lost, or suspended first, and connected again";
  CallCount late;
  const Subscription late_subscription = hold.on_lost(late.handler());
  EXPECT_TRUE(late.wait()) << "a subscription to a lost hold, too";
  EXPECT_FALSE(gate.passed());
  gate.open();
  connection.close();  // waits for the callbacks, which use what is here
}

TEST_F(CallbackLanesTest, ASlowOnLost_DoesNotDelayOnReady) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath), other(connection, "/other");
  const Hold hold = mutex.acquire();
  Gate gate;
  const Subscription subscription = hold.on_lost([&] { gate.pass(); });
  expire_session(connection);
  ASSERT_TRUE(gate.wait_until_reached());
  PendingHold pending = other.acquire_async();
  CallCount ready;
  pending.on_ready(ready.handler());
  EXPECT_TRUE(ready.wait());
  EXPECT_FALSE(gate.passed());
  gate.open();
  connection.close();  // waits for the callbacks, which use what is here
}

TEST_F(CallbackLanesTest, ASlowOnStateChange_DelaysNeitherOnLostNorOnReady) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath), other(connection, "/other");
  const Hold hold = mutex.acquire();
  CallCount lost, ready;
  const Subscription subscription = hold.on_lost(lost.handler());
  Gate gate;
  Subscription state = connection.on_state_change([&](ConnectionState) { gate.pass(); });
  lose_session_until(connection, gate);
  EXPECT_TRUE(lost.wait());
  PendingHold pending = other.acquire_async();
  pending.on_ready([&](auto&&...) { ready.handler()(); });
  EXPECT_TRUE(ready.wait());
  EXPECT_FALSE(gate.passed());
  gate.open();
  state.disconnect_and_wait();
}

TEST_F(CallbackLanesTest, ASlowOnLost_DoesNotDelayStates) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  Gate gate;
  Subscription lost = hold.on_lost([&] { gate.pass(); });
  const StateLog states(connection);
  lose_session_until(connection, gate);
  EXPECT_TRUE(states.wait_for(ConnectionState::connected));
  EXPECT_FALSE(gate.passed());
  gate.open();
  lost.disconnect_and_wait();
}

TEST_F(CallbackLanesTest, DisconnectAndWait_WaitsForARunningOnStateChangeAndForNothingElse) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  Gate state_gate, lost_gate;
  Subscription state = connection.on_state_change([&](ConnectionState) { state_gate.pass(); });
  Subscription quiet = connection.on_state_change([](ConnectionState) {});
  Subscription lost = hold.on_lost([&] { lost_gate.pass(); });
  lose_session_until(connection, state_gate);
  ASSERT_TRUE(lost_gate.wait_until_reached());
  quiet.disconnect_and_wait();  // its turn has not come
  Background waiter([&] { state.disconnect_and_wait(); });
  EXPECT_FALSE(wait_for([&] { return waiter.done(); }, kMoment));
  state_gate.open();
  waiter.join();
  EXPECT_TRUE(state_gate.passed());
  EXPECT_FALSE(lost_gate.passed());
  lost_gate.open();
  lost.disconnect_and_wait();
}

TEST_F(CallbackLanesTest, ACallback_MayDisconnectAndWaitForItselfAndForOthersOfItsThread) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  Subscription first, second;
  CallCount done, never;
  first = hold.on_lost([&] {
    first.disconnect_and_wait();
    second.disconnect_and_wait();
    done.handler()();
  });
  second = hold.on_lost(never.handler());
  expire_session(connection);
  EXPECT_TRUE(done.wait());
  connection.close();
  EXPECT_EQ(never.count(), 0) << "it was due, but its subscription ended first";
}

TEST_F(CallbackLanesTest, ASubscription_EndsWithTheOneCallOfOnLostOrWithTheHold) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath), other(connection, "/other");
  const Hold hold = mutex.acquire();
  auto released = std::make_unique<Hold>(other.acquire());
  const auto owned = std::make_shared<int>(1);
  const Subscription of_released = released->on_lost([owned] {});
  const Subscription lost = hold.on_lost([owned] {});
  EXPECT_TRUE(of_released.connected());
  released = nullptr;
  EXPECT_TRUE(wait_for([&] { return !of_released.connected() && owned.use_count() == 2; }));
  EXPECT_TRUE(lost.connected());
  expire_session(connection);
  EXPECT_TRUE(wait_for([&] { return !lost.connected() && owned.use_count() == 1; }));
}

TEST_F(CallbackLanesTest, ASubscription_MayOutliveHoldAndConnection) {
  Connection& connection = connect();
  Subscription lost, state;
  {
    FairMutex mutex(connection, kPath);
    const Hold hold = mutex.acquire();
    lost = hold.on_lost([] {});
    state = connection.on_state_change([](ConnectionState) {});
    disconnect(connection);
  }
  lost.disconnect_and_wait();
  EXPECT_TRUE(wait_for([&] { return !state.connected(); })) << "nothing of the connection is left";
  state.disconnect_and_wait();
}

TEST_F(CallbackLanesTest, BlockingCallsInOnLostAndOnStateChange_AreRefused) {
  Connection& connection = connect();
  FairMutex held(connection, kPath), other(connection, "/other");
  const Hold hold = held.acquire();
  CallCount refused;
  std::mutex mutex;
  bool closing = false;  // then the calls are refused for that
  const auto try_all = [&] {
    std::lock_guard<std::mutex> lock(mutex);
    if (closing) return;
    EXPECT_THROW(static_cast<void>(other.acquire()), std::logic_error);
    EXPECT_THROW(static_cast<void>(other.try_acquire()), std::logic_error);
    EXPECT_THROW(static_cast<void>(connection.wait_until_connected(1s)), std::logic_error);
    refused.handler()();
  };
  const Subscription lost = hold.on_lost(try_all);
  const Subscription states = connection.on_state_change([&](ConnectionState) { try_all(); });
  expire_session(connection);
  EXPECT_TRUE(refused.wait(3));
  {
    std::lock_guard<std::mutex> lock(mutex);
    closing = true;
  }
  connection.close();  // waits for the callbacks, which use what is here
}

TEST_F(CallbackLanesTest, TheDestructor_WaitsForACallbackThatHasClosedTheConnection) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  PendingHold pending = mutex.acquire_async();
  Gate gate;
  pending.on_ready([&](const AcquireResult&) {
    connection.close();
    gate.pass();
  });
  ASSERT_TRUE(gate.wait_until_reached());
  std::atomic<bool> passed_before{false};
  Background destroyer([&] {
    disconnect(connection);
    passed_before = gate.passed();
  });
  EXPECT_FALSE(wait_for([&] { return destroyer.done(); }, kMoment));
  gate.open();
  destroyer.join();
  EXPECT_TRUE(passed_before);
}

TEST_F(CallbackLanesTest, TheDestructor_WaitsForCallbacksOfBothKinds) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath), busy(connection, "/busy");
  const Hold hold = mutex.acquire();
  Gate ready_gate, lost_gate;
  const PendingHold pending = block(busy, ready_gate);
  const Subscription subscription = hold.on_lost([&] { lost_gate.pass(); });
  std::atomic<bool> both_passed{false};
  Background destroyer([&] {
    disconnect(connection);
    both_passed = ready_gate.passed() && lost_gate.passed();
  });
  ASSERT_TRUE(lost_gate.wait_until_reached()) << "the connection ends while on_ready still runs";
  lost_gate.open();
  EXPECT_FALSE(wait_for([&] { return destroyer.done(); }, kMoment));
  ready_gate.open();
  destroyer.join();
  EXPECT_TRUE(both_passed);
}

TEST_F(CallbackLanesTest, TheDestructor_WaitsForAnAnswerThatIsBeingHandledOnTheProgramsOwnHandle) {
  PlainClient program(server().address(), 20s);
  auto connection = std::make_unique<Connection>(program.handle());
  ASSERT_TRUE(connection->wait_until_connected(kLimit));
  const auto client = client_of(*connection);
  Gate gate;
  CallCount called;
  client->exists(client->current_session(), "/", [&](const detail::Reply&) {
    gate.pass();
    client->callbacks().post(called.handler());
  });
  ASSERT_TRUE(gate.wait_until_reached());
  std::atomic<int> called_before{0};
  Background destroyer([&] {
    connection.reset();
    called_before = called.count();
  });
  // Longer than a close waits for the answers behind this one.
  EXPECT_FALSE(wait_for([&] { return destroyer.done(); }, 3s));
  gate.open();
  destroyer.join();
  EXPECT_EQ(called_before, 1);
}

TEST_F(CallbackLanesTest, CloseInsideACallback_WaitsForNoOtherCallback) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath), busy(connection, "/busy");
  const Hold hold = mutex.acquire();
  Gate gate;
  const Subscription subscription = hold.on_lost([&] { gate.pass(); });
  remove_node(hold.node());
  PendingHold pending;
  CallCount closed;
  {
    // The probe of the heartbeat notices the deletion; its callback then blocks its lane.
    ASSERT_TRUE(gate.wait_until_reached());
    pending = busy.acquire_async();
    pending.on_ready([&](const AcquireResult&) {
      connection.close();
      closed.handler()();
    });
  }
  EXPECT_TRUE(closed.wait());
  EXPECT_FALSE(gate.passed());
  gate.open();
  connection.close();  // waits for the callbacks, which use what is here
}

TEST_F(CallbackLanesTest, OnReadyAfterTheClose_IsStillCalled) {
  for (const bool destroy : {false, true}) {
    Connection& connection = connect();
    FairMutex mutex(connection, kPath);
    const Hold hold = mutex.acquire();
    PendingHold pending = mutex.acquire_async();
    ASSERT_TRUE(wait_for_waiters(connection, 1));
    if (destroy)
      disconnect(connection);
    else
      connection.close();
    std::atomic<bool> elsewhere{false}, failed{false};
    CallCount ready;
    pending.on_ready([&, caller = std::this_thread::get_id()](const AcquireResult& result) {
      elsewhere = caller != std::this_thread::get_id();
      failed = result.status() == AcquireStatus::failed;
      EXPECT_THROW(static_cast<void>(result.value()), ConnectionClosed);
      ready.handler()();
    });
    ASSERT_TRUE(ready.wait());
    EXPECT_TRUE(elsewhere);
    EXPECT_TRUE(failed);
  }
}

TEST_F(CallbackLanesTest, OnLostAfterTheClose_IsStillCalled) {
  for (const bool destroy : {false, true}) {
    Connection& connection = connect();
    FairMutex mutex(connection, kPath);
    const Hold hold = mutex.acquire();
    if (destroy)
      disconnect(connection);
    else
      connection.close();
    CallCount lost;
    const Subscription subscription = hold.on_lost(lost.handler());
    ASSERT_TRUE(lost.wait());
    EXPECT_EQ(lost.count(), 1);
  }
}

TEST_F(CallbackLanesTest, CallbacksQueuedAtTheClose_HaveRunWhenItReturns) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  CallCount lost, ready;
  const Subscription subscription = hold.on_lost(lost.handler());
  std::vector<PendingHold> pending;
  for (int i = 0; i < 20; ++i) {
    pending.push_back(mutex.acquire_async());
    pending.back().on_ready(ready.handler());
  }
  connection.close();
  EXPECT_EQ(lost.count(), 1);
  EXPECT_EQ(ready.count(), 20);
}

TEST_F(CallbackLanesTest, ACallbackRegisteredInACallbackDuringTheClose_HasRunWhenItReturns) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  PendingHold pending = mutex.acquire_async();
  ASSERT_TRUE(wait_for_waiters(connection, 1));
  CallCount ready;
  const Subscription subscription = hold.on_lost([&] {
    ASSERT_TRUE(wait_until_ready(pending));
    pending.on_ready(ready.handler());
  });
  connection.close();
  EXPECT_EQ(ready.count(), 1);
}

TEST_F(CallbackLanesTest, CallbacksThatRegisterEachOtherAcrossTheThreads_HaveAllRunWhenTheCloseReturns) {
  constexpr int kHops = 300;
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  std::vector<PendingHold> pending(kHops);  // each calls back once
  for (PendingHold& each : pending) each = mutex.acquire_async();
  ASSERT_TRUE(wait_for_waiters(connection, kHops));
  std::atomic<int> hops{0};
  std::vector<Subscription> subscriptions;
  subscriptions.reserve(kHops);
  std::function<void(const AcquireResult&)> on_ready;
  std::function<void()> on_lost;
  on_lost = [&] {
    PendingHold& next = pending[static_cast<std::size_t>(hops)];
    if (!wait_until_ready(next)) return;
    if (++hops < kHops) next.on_ready(on_ready);
  };
  on_ready = [&](const AcquireResult&) {
    if (++hops < kHops) subscriptions.push_back(hold.on_lost(on_lost));
  };
  subscriptions.push_back(hold.on_lost(on_lost));
  connection.close();
  EXPECT_EQ(hops, kHops);
  EXPECT_TRUE(wait_for([&] { return hops == kHops; })) << "what is used here must not end before the callbacks";
}

TEST_F(CallbackLanesTest, TheDestructorInsideACallback_ReturnsAndTheRestIsStillCalled) {
  auto connection = std::make_unique<Connection>(options());
  ASSERT_TRUE(connection->wait_until_connected(kLimit));
  FairMutex mutex(*connection, kPath), busy(*connection, "/busy");
  const Hold hold = mutex.acquire();
  PendingHold waits = mutex.acquire_async();
  CallCount lost, ready, destroyed;
  const Subscription subscription = hold.on_lost(lost.handler());
  waits.on_ready(ready.handler());
  PendingHold pending = busy.acquire_async();
  pending.on_ready([&](const AcquireResult&) {
    connection.reset();
    destroyed.handler()();
  });
  EXPECT_TRUE(destroyed.wait());
  EXPECT_TRUE(lost.wait());
  EXPECT_TRUE(ready.wait());
}

}  // namespace
}  // namespace zkrecipes::testing
