// SPDX-License-Identifier: Apache-2.0
// Callbacks that the program's own executor runs.
#include <condition_variable>
#include <deque>
#include <future>
#include <gmock/gmock.h>
#include <mutex>

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

using Task = std::function<void()>;

/// Keeps what it is given until the test runs it.
class TaskQueue {
 public:
  void post(Task task) {
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  std::size_t size() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return tasks_.size();
  }
  bool wait_for_size(std::size_t number) const {
    return wait_for([&] { return size() >= number; });
  }
  /// Runs what is there, and what is added meanwhile, on the calling thread. How many that were.
  int run() {
    for (int count = 0;; ++count) {
      Task task;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (tasks_.empty()) return count;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }
  /// Drops it instead.
  void clear() {
    std::deque<Task> dropped;
    const std::lock_guard<std::mutex> lock(mutex_);
    dropped.swap(tasks_);
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Task> tasks_;  // guarded by mutex_
};

/// Runs what it is given on threads of its own, in no order.
class Pool {
 public:
  ~Pool() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& each : running_) each.wait();
  }
  void post(Task task) {
    const std::lock_guard<std::mutex> lock(mutex_);
    running_.push_back(std::async(std::launch::async, std::move(task)));
  }

 private:
  std::mutex mutex_;
  std::vector<std::future<void>> running_;  // guarded by mutex_
};

class ExecutorTest : public ControlledRecipeTest {
 protected:
  Connection& connect_with(std::function<void(Task)> executor) {
    ConnectionOptions with_executor = options();
    with_executor.executor = std::move(executor);
    return connect(with_executor);
  }
  /// The connection keeps the queue, as it may outlive what a test has on its stack.
  Connection& connect_with(const std::shared_ptr<TaskQueue>& queue) {
    return connect_with([queue](Task task) { queue->post(std::move(task)); });
  }
};

TEST_F(ExecutorTest, ThatRunsInline_RunsCallbacksOnTheConnectionsThreadsWhereBlockingIsRefused) {
  Connection& connection = connect_with([](const Task& task) { task(); });
  FairMutex held(connection, kPath), other(connection, "/other");
  const Hold hold = held.acquire();
  CallCount lost, ready;
  Subscription subscription = hold.on_lost([&] {
    EXPECT_THROW(static_cast<void>(other.acquire()), std::logic_error);
    lost.handler()();
  });
  PendingHold pending = other.acquire_async();
  pending.on_ready([&](auto&&...) { ready.handler()(); });
  EXPECT_TRUE(ready.wait());
  expire_session(connection);
  EXPECT_TRUE(lost.wait());
  subscription.disconnect_and_wait();
}

TEST_F(ExecutorTest, ThatQueues_IsGivenEachCallbackOfEachKind) {
  const auto queue = std::make_shared<TaskQueue>();
  Connection& connection = connect_with(queue);
  LockOptions revocable;
  CallCount revoked, lost, ready;
  std::vector<ConnectionState> states;
  revocable.on_revoke = [&](const std::string&) { revoked.handler()(); };
  FairMutex mutex(connection, kPath, revocable), other(connection, "/other");
  const Hold hold = mutex.acquire();
  Subscription on_lost = hold.on_lost(lost.handler()), too = hold.on_lost(lost.handler());
  Subscription on_state = connection.on_state_change([&](ConnectionState state) { states.push_back(state); });
  PendingHold pending = other.acquire_async();
  pending.on_ready([&](auto&&...) { ready.handler()(); });
  ASSERT_TRUE(queue->wait_for_size(1));
  EXPECT_EQ(ready.count(), 0);
  EXPECT_EQ(queue->run(), 1);
  EXPECT_EQ(ready.count(), 1);
  request_revoke(connection, hold.node());
  ASSERT_TRUE(queue->wait_for_size(1));
  EXPECT_EQ(queue->run(), 1);
  EXPECT_EQ(revoked.count(), 1);
  expire_session(connection);
  EXPECT_TRUE(wait_for([&] {
    queue->run();
    return states.size() == 3 && lost.count() == 2;
  }));
  EXPECT_THAT(states,
              ::testing::ElementsAre(ConnectionState::suspended, ConnectionState::lost, ConnectionState::connected))
      << "in order, because the queue keeps the order";
}

TEST_F(ExecutorTest, OnAThreadOfTheProgram_BlockingCallsAreAllowed) {
  const auto queue = std::make_shared<TaskQueue>();
  Connection& connection = connect_with(queue);
  FairMutex mutex(connection, kPath), other(connection, "/other");
  PendingHold pending = mutex.acquire_async();
  bool acquired = false;
  pending.on_ready([&](auto&&...) {
    Hold hold = other.acquire();
    acquired = hold.is_valid();
    hold.release();
  });
  ASSERT_TRUE(queue->wait_for_size(1));
  queue->run();
  EXPECT_TRUE(acquired);
}

TEST_F(ExecutorTest, ACallbackThatWasHandedOverButNotBegun_IsNotRunAfterItsEnd) {
  const auto queue = std::make_shared<TaskQueue>();
  Connection& connection = connect_with(queue);
  FairMutex mutex(connection, kPath), other(connection, "/other");
  const Hold hold = mutex.acquire();
  const auto owned = std::make_shared<int>(1);
  CallCount called;
  const auto count = [owned, called](auto&&...) { called.handler()(); };
  Subscription lost = hold.on_lost([count] { count(); });
  Subscription state = connection.on_state_change(count);
  PendingHold pending = other.acquire_async();
  pending.on_ready(count);
  ASSERT_TRUE(queue->wait_for_size(1));
  expire_session(connection);
  ASSERT_TRUE(queue->wait_for_size(5)) << "ready, lost, and three states";
  pending = PendingHold();
  lost.disconnect();
  state.disconnect_and_wait();
  EXPECT_EQ(owned.use_count(), 2) << "only `count` has it, although the executor has not run anything";
  EXPECT_GE(queue->run(), 5);
  EXPECT_EQ(called.count(), 0);
}

TEST_F(ExecutorTest, ThatQueues_IsNotWaitedForByTheClose) {
  for (const bool destroy : {false, true}) {
    const auto queue = std::make_shared<TaskQueue>();
    Connection& connection = connect_with(queue);
    FairMutex mutex(connection, kPath);
    Hold hold = mutex.acquire();
    CallCount lost, ready, closed;
    const Subscription on_lost = hold.on_lost(lost.handler());
    const Subscription on_state = connection.on_state_change([&](ConnectionState) { closed.handler()(); });
    PendingHold pending = mutex.acquire_async();
    pending.on_ready([&](auto&&...) { ready.handler()(); });
    ASSERT_TRUE(wait_for_waiters(connection, 1));
    if (destroy)
      disconnect(connection);
    else
      connection.close();
    EXPECT_EQ(queue->size(), 3u) << "all that was due has been handed over";
    EXPECT_EQ(lost.count() + ready.count() + closed.count(), 0);
    hold = Hold();
    EXPECT_EQ(queue->run(), 3) << "with all that they need";
    EXPECT_EQ(lost.count(), 1);
    EXPECT_EQ(ready.count(), 1);
    EXPECT_EQ(closed.count(), 1);
  }
}

TEST_F(ExecutorTest, ACallbackRegisteredAfterTheClose_IsHandedOver) {
  const auto queue = std::make_shared<TaskQueue>();
  Connection& connection = connect_with(queue);
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  PendingHold pending = mutex.acquire_async();
  ASSERT_TRUE(wait_for_waiters(connection, 1));
  disconnect(connection);
  CallCount called;
  const Subscription lost = hold.on_lost(called.handler());
  pending.on_ready([&](auto&&...) { called.handler()(); });
  ASSERT_TRUE(queue->wait_for_size(2));
  EXPECT_EQ(queue->run(), 2);
  EXPECT_EQ(called.count(), 2);
}

TEST_F(ExecutorTest, ACallbackOnAThreadOfTheProgram_MayCloseAndDestroyTheConnection) {
  const auto queue = std::make_shared<TaskQueue>();
  ConnectionOptions with_executor = options();
  with_executor.executor = [queue](Task task) { queue->post(std::move(task)); };
  auto connection = std::make_unique<Connection>(with_executor);
  ASSERT_TRUE(connection->wait_until_connected(kLimit));
  FairMutex mutex(*connection, kPath);
  PendingHold pending = mutex.acquire_async();
  CallCount states;
  const Subscription subscription = connection->on_state_change([&](ConnectionState) { states.handler()(); });
  pending.on_ready([&](auto&&...) {
    connection->close();
    connection = nullptr;
  });
  ASSERT_TRUE(queue->wait_for_size(1));
  EXPECT_EQ(queue->run(), 2) << "on_ready, and the state that it has brought about";
  EXPECT_EQ(connection, nullptr);
  EXPECT_EQ(states.count(), 1);
}

TEST_F(ExecutorTest, WithAPoolOfThreads_RunsEachCallbackOnce) {
  constexpr int kLocks = 50;
  Pool pool;
  Connection& connection = connect_with([&](Task task) { pool.post(std::move(task)); });
  std::vector<std::unique_ptr<FairMutex>> locks;
  std::vector<PendingHold> pending;
  std::vector<Hold> holds;
  std::vector<Subscription> subscriptions;
  CallCount ready, lost;
  for (int n = 0; n < kLocks; ++n) {
    locks.push_back(std::make_unique<FairMutex>(connection, "/lock" + std::to_string(n)));
    pending.push_back(locks.back()->acquire_async());
    pending.back().on_ready([&](auto&&...) { ready.handler()(); });
    holds.push_back(FairMutex(connection, "/held" + std::to_string(n)).acquire());
    subscriptions.push_back(holds.back().on_lost(lost.handler()));
  }
  EXPECT_TRUE(ready.wait(kLocks));
  expire_session(connection);
  EXPECT_TRUE(lost.wait(kLocks));
  pending.clear();  // waits for callbacks that are running
  for (Subscription& subscription : subscriptions) subscription.disconnect_and_wait();
  EXPECT_EQ(ready.count(), kLocks);
  EXPECT_EQ(lost.count(), kLocks);
  connection.close();  // hands over what is left, while the pool is there
}

TEST_F(ExecutorTest, WithAPoolOfThreads_TheEndOfAPendingHoldAndDisconnectAndWaitWaitForARunningCallback) {
  Pool pool;
  Connection& connection = connect_with([&](Task task) { pool.post(std::move(task)); });
  FairMutex mutex(connection, kPath), other(connection, "/other");
  const Hold hold = mutex.acquire();
  Gate ready_gate, lost_gate;
  auto pending = std::make_unique<PendingHold>(other.acquire_async());
  pending->on_ready([&](auto&&...) { ready_gate.pass(); });
  Subscription subscription = hold.on_lost([&] { lost_gate.pass(); });
  expire_session(connection);
  ASSERT_TRUE(ready_gate.wait_until_reached());
  ASSERT_TRUE(lost_gate.wait_until_reached());
  Background end_of_pending([&] { pending = nullptr; });
  Background end_of_subscription([&] { subscription.disconnect_and_wait(); });
  EXPECT_FALSE(wait_for([&] { return end_of_pending.done() || end_of_subscription.done(); }, kMoment));
  lost_gate.open();
  end_of_subscription.join();
  EXPECT_TRUE(lost_gate.passed());
  ready_gate.open();
  end_of_pending.join();
  EXPECT_TRUE(ready_gate.passed());
  connection.close();  // hands over what is left, while the pool is there
}

TEST_F(ExecutorTest, ThatNeverRunsAnything_DisturbsNothingElse) {
  for (const bool keeps : {false, true}) {
    const auto queue = std::make_shared<TaskQueue>();
    ConnectionOptions with_executor = options();
    with_executor.executor = [queue, keeps](Task task) {
      if (keeps) queue->post(std::move(task));
    };
    CallCount called;
    const auto count = [called](auto&&...) { called.handler()(); };
    {
      Connection connection(with_executor);
      ASSERT_TRUE(connection.wait_until_connected(kLimit));
      FairMutex mutex(connection, kPath), other(connection, "/other");
      const Hold hold = mutex.acquire();
      const Subscription lost = hold.on_lost([count] { count(); });
      const Subscription state = connection.on_state_change(count);
      PendingHold pending = other.acquire_async();
      pending.on_ready(count);
      ASSERT_TRUE(wait_until_ready(pending));
      EXPECT_TRUE(hold.is_valid());
      pending.cancel();
      FairMutex third(connection, "/third");
      third.acquire().release();
    }
    queue->clear();
    EXPECT_EQ(called.count(), 0);
  }
}

TEST_F(ExecutorTest, ThatThrows_KeepsNoSignalFromTheProgram) {
  Connection& connection = connect_with([](const Task&) { throw std::runtime_error("on purpose, by a test"); });
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  expire_session(connection);
  EXPECT_TRUE(lost.wait());
}

TEST_F(ExecutorTest, WhatItKeepsOfAClosedConnection_DoesNotKeepTheConnectionAlive) {
  // The executor owns the queue, and the queue would own the connection, which owns the executor.
  const auto owned = std::make_shared<int>(1);
  {
    const auto queue = std::make_shared<TaskQueue>();
    ConnectionOptions with_executor = options();
    with_executor.executor = [queue, owned](Task task) { queue->post(std::move(task)); };
    Subscription lost, state;
    {
      Connection connection(with_executor);
      ASSERT_TRUE(connection.wait_until_connected(kLimit));
      FairMutex mutex(connection, kPath);
      const Hold hold = mutex.acquire();
      lost = hold.on_lost([] {});
      state = connection.on_state_change([](ConnectionState) {});
    }
    EXPECT_EQ(queue->size(), 1u) << "closed; the hold was released before";
  }
  EXPECT_TRUE(wait_for([&] { return owned.use_count() == 1; }));
}

/// One thread, which its destructor joins: so it must not be destroyed there.
class OneThread {
 public:
  explicit OneThread(std::shared_ptr<std::atomic<int>> mistakes) : mistakes_(std::move(mistakes)) {}
  ~OneThread() {
    const bool mistake = thread_.get_id() == std::this_thread::get_id();
    {
      const std::lock_guard<std::mutex> lock(state_->mutex);
      state_->stop = true;
    }
    state_->wake.notify_one();
    if (!mistake) {
      thread_.join();
    } else {
      ++*mistakes_;
      thread_.detach();
    }
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  void post(Task task) {
    {
      const std::lock_guard<std::mutex> lock(state_->mutex);
      state_->tasks.push_back(std::move(task));
    }
    state_->wake.notify_one();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<Task> tasks;
    bool stop = false;
  };
  static void run(State& state) {
    for (;;) {
      Task task;
      {
        std::unique_lock<std::mutex> lock(state.mutex);
        state.wake.wait(lock, [&] { return state.stop || !state.tasks.empty(); });
        if (state.tasks.empty()) return;
        task = std::move(state.tasks.front());
        state.tasks.pop_front();
      }
      task();
    }
  }
  const std::shared_ptr<std::atomic<int>> mistakes_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_{[state = state_] { run(*state); }};
};

TEST_F(ExecutorTest, ThatTheConnectionOwns_IsNotDestroyedOnItsOwnThread) {
  const auto mistakes = std::make_shared<std::atomic<int>>(0);
  for (int n = 0; n < 200; ++n) {
    ConnectionOptions unconnected;
    unconnected.servers = "127.0.0.1:1";
    unconnected.log = [](LogSeverity, const std::string&) {};
    unconnected.executor = [pool = std::make_shared<OneThread>(mistakes)](Task task) { pool->post(std::move(task)); };
    auto connection = std::make_unique<Connection>(std::move(unconnected));
    unconnected.executor = nullptr;
    auto lock = std::make_unique<FairMutex>(*connection, kPath);
    PendingHold pending = lock->acquire_async();
    pending.on_ready([](const AcquireResult&) {});
    lock.reset();
    connection.reset();       // the callback is handed over
    pending = PendingHold();  // waits for it, or drops it
  }
  EXPECT_EQ(*mistakes, 0);
}

}  // namespace
}  // namespace zkrecipes::testing
