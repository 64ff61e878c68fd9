// SPDX-License-Identifier: Apache-2.0
// A stop token ends a wait at once, whatever the state of the connection, and leaves no node behind.
#include <algorithm>
#include <fstream>
#include <future>
#include <unistd.h>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

constexpr auto kAtOnce = 10ms;

// ---- In each state of the connection, by each call that blocks ----

// `Holder` can keep others waiting with acquire(). is_stopped(): waits, and says whether the stop has ended the wait.

template <class Lock>
struct WithLock {
  WithLock(Connection& connection, const std::string& path) : lock(connection, path) {}
  Lock lock;
};

template <class Lock>
struct ByAcquire : WithLock<Lock> {
  using Holder = Lock;
  using WithLock<Lock>::WithLock;
  static std::string name() { return std::string(Lock::kName) + "_acquire"; }
  bool is_stopped(const StopToken& stop) { return this->lock.acquire(stop).status() == AcquireStatus::stopped; }
};

struct ByAcquireRead : WithLock<ReadWriteLock> {
  using Holder = WriteLockUnderTest;
  using WithLock::WithLock;
  static std::string name() { return "ReadWriteLock_acquire_read"; }
  bool is_stopped(const StopToken& stop) { return lock.acquire_read(stop).status() == AcquireStatus::stopped; }
};

struct ByAcquireOfAllPermits {
  using Holder = OnePermitUnderTest;
  static std::string name() { return "Semaphore_acquire_all"; }
  ByAcquireOfAllPermits(Connection& connection, const std::string& path) : lock(connection, path, kPermits) {}
  bool is_stopped(const StopToken& stop) { return lock.acquire(kPermits, stop).status() == AcquireStatus::stopped; }
  static constexpr int kPermits = 3;
  Semaphore lock;
};

template <class Lock, class HolderLock = Lock>
struct ByLock : WithLock<Lock> {
  using Holder = HolderLock;
  using WithLock<Lock>::WithLock;
  static std::string name() { return std::string(Lock::kName) + "_lock"; }
  bool is_stopped(const StopToken& stop) { return !this->lock.lock(stop); }
};

template <class Lock>
struct ByLockShared : WithLock<Lock> {
  using Holder = WriteLockUnderTest;
  using WithLock<Lock>::WithLock;
  static std::string name() { return std::string(Lock::kName) + "_lock_shared"; }
  bool is_stopped(const StopToken& stop) { return !this->lock.lock_shared(stop); }
};

struct WayNames {
  template <class Way>
  static std::string GetName(int /*index*/) {
    return Way::name();
  }
};

/// A thread that waits until it is stopped.
class StoppableWaiter {
 public:
  template <class Way>
  explicit StoppableWaiter(Way& way)
      : thread_([this, &way] {
          thread_id_ = static_cast<int>(::gettid());
          EXPECT_TRUE(way.is_stopped(stop_.token()));
          returned_ = Clock::now();
        }) {}

  /// True while the system has nothing to run for this thread, as seen several times in a row: it is blocked, and not
  /// on its way there.
  bool is_asleep() {
    constexpr int kLooks = 5;
    std::ifstream stat("/proc/self/task/" + std::to_string(thread_id_) + "/stat");
    std::string text;
    std::getline(stat, text);
    const auto state = text.rfind(") ");
    looks_asleep_ = state != std::string::npos && text[state + 2] == 'S' ? looks_asleep_ + 1 : 0;
    return looks_asleep_ >= kLooks;
  }
  /// How long the call takes to return after the stop.
  Clock::duration stop() {
    const auto requested = Clock::now();
    EXPECT_TRUE(stop_.request_stop());
    thread_.join();
    return returned_ - requested;
  }
  ~StoppableWaiter() { stop_.request_stop(); }

 private:
  StopSource stop_;
  std::atomic<int> thread_id_{0};
  int looks_asleep_ = 0;
  Clock::time_point returned_;
  Background thread_;
};

template <class Way>
class StopStateTest : public ControlledRecipeTest {
 protected:
  static constexpr std::size_t kWaiters = 5;

  static std::vector<std::unique_ptr<StoppableWaiter>> start_waiters(Way& way) {
    std::vector<std::unique_ptr<StoppableWaiter>> waiters;
    for (std::size_t i = 0; i < kWaiters; ++i) waiters.push_back(std::make_unique<StoppableWaiter>(way));
    return waiters;
  }
  /// Stops all of them while they are blocked, one after the other. The fastest counts, because on a loaded machine any
  /// one of them can be late.
  static Clock::duration fastest_stop(const std::vector<std::unique_ptr<StoppableWaiter>>& waiters) {
    auto fastest = Clock::duration::max();
    for (const auto& waiter : waiters) {
      EXPECT_TRUE(wait_for([&] { return waiter->is_asleep(); }));
      fastest = std::min(fastest, waiter->stop());
    }
    return fastest;
  }
};

using WaysToWait = ::testing::Types<ByAcquire<FairMutexUnderTest>, ByAcquire<SimpleLockUnderTest>,
                                    ByAcquire<WriteLockUnderTest>, ByAcquire<OnePermitUnderTest>, ByAcquireRead,
                                    ByAcquireOfAllPermits, ByLock<FairMutexUnderTest>, ByLock<SimpleLockUnderTest>,
                                    ByLock<WriteLockUnderTest>, ByLock<RecursiveMutexUnderTest, FairMutexUnderTest>,
                                    ByLock<RecursiveWriteLockUnderTest, WriteLockUnderTest>,
                                    ByLockShared<WriteLockUnderTest>, ByLockShared<RecursiveWriteLockUnderTest>>;
TYPED_TEST_SUITE(StopStateTest, WaysToWait, WayNames);

TYPED_TEST(StopStateTest, BehindAHolder_EndsTheWaitAtOnceAndRemovesTheNode) {
  Connection& waiting = this->connect();
  TypeParam way(waiting, this->kPath);
  typename TypeParam::Holder holder(this->connect(), this->kPath);
  const Hold hold = holder.acquire();
  const std::size_t nodes = this->nodes_of_holders(waiting, this->kPath);
  const auto waiters = this->start_waiters(way);
  ASSERT_TRUE(this->wait_for_waiters(waiting, this->kWaiters));
  EXPECT_LE(this->fastest_stop(waiters), kAtOnce);
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, nodes));
  EXPECT_TRUE(this->wait_for_waiters(waiting, 0));
}

TYPED_TEST(StopStateTest, NeverConnected_EndsTheWaitAtOnce) {
  this->proxy().refuse(true);
  Connection& connection = this->begin_connect(this->options_by_proxy());
  TypeParam way(connection, this->kPath);
  EXPECT_LE(this->fastest_stop(this->start_waiters(way)), kAtOnce);
  this->proxy().refuse(false);
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::connected));
  typename TypeParam::Holder next(connection, this->kPath);
  EXPECT_TRUE(next.try_acquire_for(kLimit)) << "nobody stands in the way";
}

TYPED_TEST(StopStateTest, WhileSuspended_EndsTheWaitAtOnceAndRemovesTheNodeLater) {
  Connection& connection = this->connect_by_proxy();
  TypeParam way(connection, this->kPath);
  typename TypeParam::Holder holder(this->connect(), this->kPath);
  const Hold hold = holder.acquire();
  const std::size_t nodes = this->nodes_at(this->kPath).size();
  const auto waiting_before = this->start_waiters(way);
  ASSERT_TRUE(this->wait_for_waiters(connection, this->kWaiters));
  this->proxy().refuse(true);
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::suspended));
  EXPECT_LE(this->fastest_stop(waiting_before), kAtOnce) << "those that have waited before";
  EXPECT_LE(this->fastest_stop(this->start_waiters(way)), kAtOnce) << "those that begin while suspended";
  this->proxy().refuse(false);
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, nodes));
}

// ---- What a stop does ----

template <class Lock>
class StopTest : public ControlledRecipeTest {};

TYPED_TEST_SUITE(StopTest, LockTypes, LockTypeNames);

TYPED_TEST(StopTest, RequestedBefore_NothingIsSent) {
  Connection& connection = this->connect();
  TypeParam lock(connection, this->kPath);
  StopSource stop;
  stop.request_stop();
  EXPECT_EQ(lock.acquire(stop.token()).status(), AcquireStatus::stopped);
  EXPECT_EQ(lock.try_acquire_for(1h, stop.token()).status(), AcquireStatus::stopped);
  EXPECT_EQ(lock.try_acquire_until(Clock::now() - 1s, stop.token()).status(), AcquireStatus::stopped);
  AcquireOptions options;
  options.stop = stop.token();
  PendingHold pending = lock.acquire_async(options);
  EXPECT_TRUE(pending.ready());
  EXPECT_THROW(static_cast<void>(pending.get()), Cancelled);
  EXPECT_EQ(this->load_of(connection).requests, 0U);
  EXPECT_FALSE(this->plain().stat(this->full(this->kPath))) << "not even the lock path was made";
}

TYPED_TEST(StopTest, AfterTheGrant_ChangesNothing) {
  TypeParam lock(this->connect(), this->kPath);
  StopSource stop;
  const AcquireResult hold = lock.acquire(stop.token());
  ASSERT_TRUE(hold);
  stop.request_stop();
  EXPECT_TRUE(hold->is_valid());
}

TYPED_TEST(StopTest, APendingHold_IsReadyAndItsCallbackIsCalled) {
  Connection& waiting = this->connect();
  TypeParam lock(waiting, this->kPath), holder(this->connect(), this->kPath);
  const Hold hold = holder.acquire();
  StopSource stop;
  AcquireOptions options;
  options.stop = stop.token();
  PendingHold pending = lock.acquire_async(options), told = lock.acquire_async(options);
  std::promise<AcquireStatus> status;
  told.on_ready([&](const AcquireResult& result) { status.set_value(result.status()); });
  ASSERT_TRUE(this->wait_for_waiters(waiting, 2));
  stop.request_stop();
  EXPECT_TRUE(pending.ready());
  EXPECT_THROW(static_cast<void>(pending.get()), Cancelled);
  EXPECT_EQ(status.get_future().get(), AcquireStatus::stopped);
  EXPECT_TRUE(this->wait_for_waiters(waiting, 0));
}

TYPED_TEST(StopTest, AgainstAGrant_OneOfTheTwoHappens) {
  Connection& connection = this->connect();
  TypeParam lock(connection, this->kPath), holder(this->connect(), this->kPath);
  int granted = 0;
  for (int i = 0; i < 30; ++i) {
    Hold hold = holder.acquire();
    StopSource stop;
    Background waiter([&] {
      const AcquireResult result = lock.acquire(stop.token());
      granted += result ? 1 : 0;
      EXPECT_TRUE(result || result.status() == AcquireStatus::stopped) << result.status();
      EXPECT_TRUE(!result || result->is_valid());
    });
    ASSERT_TRUE(wait_for([&] { return this->load_of(connection).watches == 1; }));
    hold = Hold();
    stop.request_stop();
  }
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0)) << granted << " were granted";
}

TYPED_TEST(StopTest, TheResult_SaysWhyThereIsNoHold) {
  Connection& connection = this->connect_by_proxy();
  TypeParam lock(connection, this->kPath), holder(this->connect(), this->kPath);
  const Hold hold = holder.acquire();
  EXPECT_EQ(lock.try_acquire().status(), AcquireStatus::busy);
  EXPECT_EQ(lock.try_acquire_for(1ms).status(), AcquireStatus::timed_out);
  EXPECT_EQ(lock.try_acquire_until(std::chrono::system_clock::now() + 1ms).status(), AcquireStatus::timed_out);
  // A node whose removal was not answered yet would stay until the session ends.
  ASSERT_TRUE(this->wait_for_waiters(connection, 0));
  this->proxy().refuse(true);
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::suspended));
  EXPECT_EQ(lock.try_acquire().status(), AcquireStatus::not_connected);
  EXPECT_EQ(lock.try_acquire_for(1ms).status(), AcquireStatus::not_connected);
  connection.close();
  EXPECT_THROW(static_cast<void>(lock.try_acquire()), ConnectionClosed) << "what has failed for good is thrown";
}

// ---- lock() ----

template <class Lock>
class StopLockTest : public ControlledRecipeTest {
 protected:
  /// Every way to wait for the lock, stopped: at once, and nothing is held.
  static void expect_stopped(Connection& waiting, const std::function<bool(const StopToken&)>& lock) {
    StopSource stop;
    Background waiter([&] { EXPECT_FALSE(lock(stop.token())); });
    EXPECT_TRUE(wait_for([&] { return load_of(waiting).watches == 1; }));
    stop.request_stop();
    waiter.join();
    EXPECT_TRUE(wait_for_waiters(waiting, 0));
    EXPECT_FALSE(lock(stop.token())) << "requested before";
  }
};

using LocksThatStop = ::testing::Types<FairMutexUnderTest, SimpleLockUnderTest, WriteLockUnderTest,
                                       RecursiveMutexUnderTest, RecursiveWriteLockUnderTest>;
TYPED_TEST_SUITE(StopLockTest, LocksThatStop, LockTypeNames);

TYPED_TEST(StopLockTest, Lock_ReturnsFalseAndHoldsNothing) {
  Connection& waiting = this->connect();
  TypeParam lock(waiting, this->kPath), holder(this->connect(), this->kPath);
  holder.lock();
  this->expect_stopped(waiting, [&](const StopToken& stop) { return lock.lock(stop); });
  EXPECT_FALSE(lock.is_held());
  holder.unlock();
  EXPECT_TRUE(lock.lock(StopSource().token()));
  EXPECT_TRUE(lock.is_held());
  lock.unlock();
}

template <class Lock>
class StopSharedLockTest : public StopLockTest<Lock> {};

using SharedLocksThatStop = ::testing::Types<WriteLockUnderTest, RecursiveWriteLockUnderTest>;
TYPED_TEST_SUITE(StopSharedLockTest, SharedLocksThatStop, LockTypeNames);

TYPED_TEST(StopSharedLockTest, LockShared_ReturnsFalseAndHoldsNothing) {
  Connection& waiting = this->connect();
  TypeParam lock(waiting, this->kPath), holder(this->connect(), this->kPath);
  holder.lock();
  this->expect_stopped(waiting, [&](const StopToken& stop) { return lock.lock_shared(stop); });
  EXPECT_FALSE(lock.is_held_shared());
  holder.unlock();
  EXPECT_TRUE(lock.lock_shared(StopSource().token()));
  EXPECT_TRUE(lock.is_held_shared());
  lock.unlock_shared();
}

}  // namespace
}  // namespace zkrecipes::testing
