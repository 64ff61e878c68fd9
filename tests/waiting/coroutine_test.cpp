// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/coroutine.h"

#include <future>
#include <utility>

#include "tests/waiting/waiting_test.h"

namespace zkrecipes::testing {
namespace {

/// A coroutine that belongs to nobody: its frame ends with it.
struct Detached {
  struct promise_type {  // NOLINT(readability-identifier-naming): the standard's name
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { ADD_FAILURE() << "an exception left the coroutine"; }
  };
};

/// A coroutine that is destroyed with its owner.
class Owned {
 public:
  struct promise_type {  // NOLINT(readability-identifier-naming): the standard's name
    Owned get_return_object() { return Owned(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { ADD_FAILURE() << "an exception left the coroutine"; }
  };
  explicit Owned(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}
  Owned(Owned&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (coroutine_) coroutine_.destroy();
  }

 private:
  std::coroutine_handle<promise_type> coroutine_;
};

class CoroutineTest : public WaitingTest {};

Detached take(FairMutex& mutex, std::promise<Hold>& taken) {
  Hold hold = co_await mutex.acquire_async();
  taken.set_value(std::move(hold));
}

TEST_F(CoroutineTest, CoAwait_GivesTheHold) {
  FairMutex mutex(connect(), kPath);
  Hold first = mutex.acquire();
  std::promise<Hold> taken;
  take(mutex, taken);
  auto hold = taken.get_future();
  EXPECT_EQ(hold.wait_for(0s), std::future_status::timeout);
  first = Hold();
  ASSERT_EQ(hold.wait_for(kLimit), std::future_status::ready);
  EXPECT_TRUE(hold.get().is_valid());
}

Detached await(PendingHold pending, std::promise<void>& ended) {
  try {
    static_cast<void>(co_await std::move(pending));
    ended.set_value();
  } catch (...) {
    ended.set_exception(std::current_exception());
  }
}

TEST_F(CoroutineTest, AFailure_IsThrownInTheCoroutine) {
  Connection& closed = connect();
  FairMutex mutex(closed, kPath), other(connect(), kPath);
  const Hold hold = other.acquire();
  std::promise<void> late, refused, empty;
  await(mutex.acquire_async(within(10ms)), late);
  EXPECT_EQ(error_of([&] { late.get_future().get(); }), make_error_code(ErrorCode::timed_out));
  await(mutex.acquire_async(), refused);
  await(PendingHold(), empty);
  EXPECT_THROW(empty.get_future().get(), std::logic_error);
  ASSERT_TRUE(wait_for_waiters(closed, 1));
  disconnect(closed);
  EXPECT_THROW(refused.get_future().get(), ConnectionClosed);
}

Detached ask(PendingHold pending, std::promise<AcquireResult>& result) {
  result.set_value(co_await result_of(std::move(pending)));
}

TEST_F(CoroutineTest, ResultOf_SaysWhyThereIsNoHold) {
  FairMutex mutex(connect(), kPath);
  std::promise<AcquireResult> granted, late, stopped;
  ask(mutex.acquire_async(), granted);
  const AcquireResult hold = granted.get_future().get();
  EXPECT_TRUE(hold);
  ask(mutex.acquire_async(within(10ms)), late);
  EXPECT_EQ(late.get_future().get().status(), AcquireStatus::timed_out);
  StopSource stop;
  AcquireOptions options;
  options.stop = stop.token();
  ask(mutex.acquire_async(options), stopped);
  stop.request_stop();
  EXPECT_EQ(stopped.get_future().get().status(), AcquireStatus::stopped);
}

Owned wait_with([[maybe_unused]] std::shared_ptr<int> owned, FairMutex& mutex, CallCount resumed) {
  static_cast<void>(co_await mutex.acquire_async());
  resumed.handler()();
}

TEST_F(CoroutineTest, DestroyedWhileSuspended_LeavesTheQueueAndIsNotResumed) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath);
  const auto owned = std::make_shared<int>(0);
  const CallCount resumed;
  Hold hold = mutex.acquire();
  {
    const Owned coroutine = wait_with(owned, mutex, resumed);
    ASSERT_TRUE(wait_for_waiters(waiting, 1));
  }
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_TRUE(wait_for_waiters(waiting, 0));
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
  hold = Hold();
  EXPECT_TRUE(mutex.try_acquire_for(kLimit));
  EXPECT_EQ(resumed.count(), 0);
}

Detached take_turns(FairMutex& mutex, int times, std::atomic<int>& done) {
  for (int i = 0; i < times; ++i) {
    const Hold hold = co_await mutex.acquire_async();
    EXPECT_TRUE(hold.is_valid());
  }
  ++done;
}

TEST_F(CoroutineTest, ManyAtOnce_EndOnAnotherThreadWhileTheyAreStarted) {
  Connection& connection = connect();
  std::vector<std::unique_ptr<FairMutex>> mutexes;
  mutexes.reserve(20);
  for (int i = 0; i < 20; ++i) mutexes.push_back(std::make_unique<FairMutex>(connection, "/lock-" + std::to_string(i)));
  std::atomic<int> done{0};
  for (int i = 0; i < 200; ++i) take_turns(*mutexes[static_cast<std::size_t>(i % 20)], 2, done);
  EXPECT_TRUE(wait_for([&] { return done == 200; }));
}

Detached destroy_the_lock(std::unique_ptr<FairMutex>& mutex, std::promise<void>& ended) {
  Hold hold = co_await mutex->acquire_async();
  hold = Hold();
  mutex.reset();
  ended.set_value();
}

TEST_F(CoroutineTest, ACoroutineThatDestroysTheLock_IsSafe) {
  auto mutex = std::make_unique<FairMutex>(connect(), kPath);
  std::promise<void> ended;
  destroy_the_lock(mutex, ended);
  EXPECT_EQ(ended.get_future().wait_for(kLimit), std::future_status::ready);
}

}  // namespace
}  // namespace zkrecipes::testing
