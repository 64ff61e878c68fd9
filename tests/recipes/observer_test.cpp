// SPDX-License-Identifier: Apache-2.0
// What an observer hears of locks and of their connection.
#include <boost/thread/thread.hpp>
#include <list>

#include "tests/recipes/event_log.h"
#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

LockOptions named(const std::string& name) {
  LockOptions options;
  options.name = name;
  return options;
}

class ObserverTest : public ControlledRecipeTest {
 protected:
  Connection& observed(std::chrono::milliseconds timeout = 20s) { return connect(observed(options(timeout))); }
  ConnectionOptions observed(ConnectionOptions options) const {
    options.observer = log;
    return options;
  }
  const std::shared_ptr<EventLog> log = std::make_shared<EventLog>();
};

template <class Lock>
class ObserverOfEachLockTest : public ObserverTest {};
TYPED_TEST_SUITE(ObserverOfEachLockTest, LockTypes, LockTypeNames);

TYPED_TEST(ObserverOfEachLockTest, AHold_IsAcquiredAndReleased) {
  TypeParam lock(this->observed(), this->kPath, named("orders"));
  Hold hold = lock.acquire();
  ASSERT_TRUE(this->log->wait_for_names({"acquired"}));
  const LockAcquired acquired = this->log->acquired().front();
  EXPECT_EQ(acquired.lock->path, this->kPath);
  EXPECT_EQ(acquired.lock->name, "orders");
  EXPECT_EQ(acquired.token, hold.token());
  EXPECT_EQ(acquired.cost.requests, hold.cost().requests);
  EXPECT_EQ(acquired.cost.waited, hold.cost().waited);
  EXPECT_EQ(acquired.permits, 1);
  hold.release();
  hold = Hold();
  ASSERT_TRUE(this->log->wait_for_names({"acquired", "released"}));
  const LockReleased released = this->log->released().front();
  EXPECT_EQ(released.id, acquired.id);
  EXPECT_EQ(released.token, acquired.token);
  EXPECT_GT(released.held.count(), 0);
}

TYPED_TEST(ObserverOfEachLockTest, AWaiter_WaitsBeforeItIsServed) {
  TypeParam other(this->connect(), this->kPath);
  Hold blocking = other.acquire();
  TypeParam lock(this->observed(), this->kPath);
  PendingHold pending = lock.acquire_async();
  ASSERT_TRUE(this->log->wait_for_names({"waiting"}));
  EXPECT_EQ(this->log->waiting().front().lock->name, "");
  blocking.release();
  Hold hold = this->get(pending);
  hold.release();
  ASSERT_TRUE(this->log->wait_for_names({"waiting", "acquired", "released"}));
  EXPECT_EQ(this->log->waiting().front().id, this->log->acquired().front().id);
}

TYPED_TEST(ObserverOfEachLockTest, AnAttemptThatIsNotServed_SaysWhy) {
  TypeParam other(this->connect(), this->kPath);
  Hold blocking = other.acquire();
  Connection& connection = this->observed();
  TypeParam lock(connection, this->kPath);
  EXPECT_FALSE(lock.try_acquire());
  EXPECT_FALSE(lock.try_acquire_for(50ms));
  StopSource stop;
  stop.request_stop();
  EXPECT_FALSE(lock.acquire(stop.token()));
  { PendingHold dropped = lock.acquire_async(); }
  ASSERT_TRUE(wait_for([&] { return this->log->not_acquired().size() == 4; }));
  std::vector<AcquireStatus> statuses;
  for (const LockNotAcquired& one : this->log->not_acquired()) statuses.push_back(one.status);
  EXPECT_THAT(statuses, ElementsAre(AcquireStatus::busy, AcquireStatus::timed_out, AcquireStatus::stopped,
                                    AcquireStatus::stopped));
  EXPECT_GE(this->log->not_acquired()[1].waited, 50ms);
  connection.close();
  EXPECT_THROW(static_cast<void>(lock.acquire()), ConnectionClosed) << "is no attempt";
  EXPECT_EQ(this->log->not_acquired().size(), 4U);
  EXPECT_EQ(this->log->open(), 0U);
}

TYPED_TEST(ObserverOfEachLockTest, AnExpiredSession_LosesTheHoldOnce) {
  Connection& connection = this->observed();
  TypeParam lock(connection, this->kPath);
  Hold hold = lock.acquire();
  this->expire_session(connection);
  ASSERT_TRUE(this->log->wait_for_names({"acquired", "lost"}));
  const LockLost lost = this->log->lost().front();
  EXPECT_EQ(lost.reason, LossReason::session_expired);
  EXPECT_THAT(lost.text, HasSubstr("session"));
  EXPECT_EQ(lost.token, hold.token());
  hold = Hold();
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::connected));
  lock.acquire().release();
  EXPECT_TRUE(this->log->wait_for_names({"acquired", "lost", "acquired", "released"}));
}

TYPED_TEST(ObserverOfEachLockTest, ADeletedNode_AndAClosedConnection_AreReasons) {
  Connection& connection = this->observed(6s);
  TypeParam lock(connection, this->kPath);
  const Hold deleted = lock.acquire();
  this->remove_node(deleted.node());
  ASSERT_TRUE(this->log->wait_for_names({"acquired", "lost"}));
  EXPECT_EQ(this->log->lost().back().reason, LossReason::node_deleted);
  const Hold closed = lock.acquire();
  connection.close();
  ASSERT_TRUE(this->log->wait_for_names({"acquired", "lost", "acquired", "lost"}));
  EXPECT_EQ(this->log->lost().back().reason, LossReason::connection_closed);
}

TYPED_TEST(ObserverOfEachLockTest, AHoldThatNobodyTakes_IsAcquiredAndReleased) {
  TypeParam lock(this->observed(), this->kPath);
  PendingHold pending = lock.acquire_async();
  ASSERT_TRUE(this->wait_until_ready(pending));
  pending.cancel();
  EXPECT_TRUE(this->log->wait_for_names({"acquired", "released"}));
}

TEST_F(ObserverTest, ALeaseThatRunsOut_IsAReason) {
  FairMutex mutex(connect(observed(options_by_proxy(6s))), kPath);
  const Hold hold = mutex.acquire();
  proxy().refuse(true);
  ASSERT_TRUE(log->wait_for_names({"acquired", "lost"}));
  EXPECT_EQ(log->lost().front().reason, LossReason::lease_over);
  EXPECT_THAT(log->lost().front().text, HasSubstr("lease"));
  proxy().refuse(false);
}

TEST_F(ObserverTest, AnAttemptThatFails_SaysSo) {
  Connection& connection = observed();
  FairMutex other(connect(), kPath);
  const Hold blocking = other.acquire();
  FairMutex mutex(connection, kPath);
  PendingHold pending = mutex.acquire_async();
  ASSERT_TRUE(log->wait_for_names({"waiting"}));
  connection.close();
  EXPECT_TRUE(log->wait_for_names({"waiting", "failed"}));
}

TEST_F(ObserverTest, ATryWithoutAConnection_IsNotConnected) {
  ConnectionOptions nowhere = observed(options_by_proxy());
  proxy().refuse(true);
  FairMutex mutex(begin_connect(nowhere), kPath);
  EXPECT_FALSE(mutex.try_acquire());
  EXPECT_TRUE(log->wait_for_names({"not connected"}));
  proxy().refuse(false);
}

TEST_F(ObserverTest, AnInterruptedThread_WasStopped) {
  FairMutex other(connect(), kPath);
  const Hold blocking = other.acquire();
  FairMutex mutex(observed(), kPath);
  boost::thread thread([&] { EXPECT_THROW(static_cast<void>(mutex.acquire()), boost::thread_interrupted); });
  ASSERT_TRUE(log->wait_for_names({"waiting"}));
  thread.interrupt();
  thread.join();
  EXPECT_TRUE(log->wait_for_names({"waiting", "stopped"}));
}

TEST_F(ObserverTest, ARecursiveLock_IsOneHold) {
  RecursiveFairMutex mutex(observed(), kPath);
  mutex.lock();
  mutex.lock();
  mutex.unlock();
  mutex.unlock();
  EXPECT_TRUE(log->wait_for_names({"acquired", "released"}));
  EXPECT_EQ(log->acquired().front().lock->kind, LockKind::mutex);
  EXPECT_EQ(log->acquired().front().lock->mode, LockMode::exclusive);
}

TEST_F(ObserverTest, PermitsOfASemaphore_AreOneHold) {
  Semaphore semaphore(observed(), kPath, 3);
  Hold hold = semaphore.acquire(3);
  PendingHold waits = semaphore.acquire_async(2);
  ASSERT_TRUE(log->wait_for_names({"acquired", "waiting"}));
  EXPECT_EQ(log->acquired().front().permits, 3);
  EXPECT_EQ(log->acquired().front().lock->kind, LockKind::semaphore);
  EXPECT_EQ(log->acquired().front().lock->mode, LockMode::permit);
  semaphore.set_permits(1);  // too few for the waiter
  ASSERT_TRUE(log->wait_for_names({"acquired", "waiting", "failed"}));
  hold.release();
  EXPECT_TRUE(log->wait_for_names({"acquired", "waiting", "failed", "released"}));
}

TEST_F(ObserverTest, RetainedHolds_ArePairsOfTheirOwn) {
  LockOptions options;
  options.retain = 1min;
  Connection& connection = observed();
  {
    FairMutex mutex(connection, kPath, options);
    for (int i = 0; i < 3; ++i) static_cast<void>(mutex.acquire());
    ASSERT_TRUE(log->wait_for_names({"acquired", "released", "acquired", "released", "acquired", "released"}));
    EXPECT_EQ(log->acquired()[0].token, log->acquired()[2].token);
    EXPECT_EQ(log->acquired()[2].cost.requests, 0);
    const Hold hold = mutex.acquire();
    expire_session(connection);
    ASSERT_TRUE(wait_for([&] { return log->lost().size() == 1; }));
  }
  EXPECT_EQ(log->open(), 0U);
  EXPECT_EQ(log->names().size(), 8U);
}

TEST_F(ObserverTest, ADowngrade_IsAnotherHold) {
  ReadWriteLock lock(observed(), kPath, named("table"));
  Hold read = lock.downgrade(lock.acquire_write());
  ASSERT_TRUE(log->wait_for_names({"acquired", "acquired", "released"}));
  const auto acquired = log->acquired();
  EXPECT_EQ(acquired[0].lock->mode, LockMode::write);
  EXPECT_FALSE(acquired[0].downgraded);
  EXPECT_EQ(acquired[1].lock->mode, LockMode::read);
  EXPECT_EQ(acquired[1].lock->name, "table");
  EXPECT_TRUE(acquired[1].downgraded);
  EXPECT_EQ(log->released().front().id, acquired[0].id);
  read.release();
  EXPECT_TRUE(log->wait_for_names({"acquired", "acquired", "released", "released"}));
}

TEST_F(ObserverTest, ARecursiveReadWriteLock_ReportsTheDowngrade) {
  RecursiveReadWriteLock lock(observed(), kPath);
  lock.lock();
  lock.lock_shared();
  lock.unlock();
  ASSERT_TRUE(log->wait_for_names({"acquired", "acquired", "released"}));
  lock.unlock_shared();
  EXPECT_TRUE(log->wait_for_names({"acquired", "acquired", "released", "released"}));
}

// ---- The connection ----

TEST_F(ObserverTest, StatesAndServers_AreReportedWithTheSession) {
  Connection& connection = connect(observed(options_by_proxy(6s)));
  const std::int64_t first = connection.session_id();
  lose_connection();
  ASSERT_TRUE(wait_for([&] { return log->states().size() >= 3; }));
  ASSERT_TRUE(wait_for_state(connection, ConnectionState::connected));
  expire_session(connection);
  ASSERT_TRUE(wait_for([&] { return log->states().size() >= 6; }));
  const std::int64_t second = connection.session_id();
  disconnect(connection);
  ASSERT_TRUE(wait_for([&] { return log->states().size() == 7; }));
  std::vector<std::pair<ConnectionState, std::int64_t>> seen;
  for (const StateChanged& one : log->states()) seen.emplace_back(one.state, one.session_id);
  using State = ConnectionState;
  EXPECT_THAT(seen, ElementsAre(std::pair(State::connected, first), std::pair(State::suspended, first),
                                std::pair(State::connected, first), std::pair(State::suspended, first),
                                std::pair(State::lost, first), std::pair(State::connected, second),
                                std::pair(State::closed, second)));
  EXPECT_EQ(log->states().front().before, State::connecting);
  for (const StateChanged& one : log->states())
    EXPECT_EQ(one.session_expired, one.state == State::lost) << to_string(one.state);
  ASSERT_EQ(log->servers().size(), 1U) << "always the same one";
  EXPECT_EQ(log->servers().front().address, proxy().address());
  EXPECT_EQ(log->servers().front().before, "");
  EXPECT_EQ(log->servers().front().session_id, first);
}

TEST_F(ObserverTest, AnotherServer_IsAServerChange) {
  FaultProxy other(server().address());
  Connection& connection = connect(observed(options_by_proxy(6s)));
  connection.set_servers(other.address());
  ASSERT_TRUE(wait_for([&] { return log->servers().size() == 2; }));
  EXPECT_EQ(log->servers().back().address, other.address());
  EXPECT_EQ(log->servers().back().before, proxy().address());
  disconnect(connection);
}

TEST_F(ObserverTest, Heartbeats_ShowRoundTripAndLease) {
  Connection& connection = observed(2s);
  const auto beats = [&] { return log->heartbeats().size(); };
  ASSERT_TRUE(wait_for([&] { return beats() > 0; }));
  EXPECT_FALSE(log->heartbeats().front().lease_left) << "there are no holds";
  {
    FairMutex mutex(connection, kPath);
    const Hold hold = mutex.acquire();
    const std::size_t before = beats();
    ASSERT_TRUE(wait_for([&] { return beats() >= before + 3; }));
    const HeartbeatAnswered beat = log->heartbeats().back();
    EXPECT_GT(beat.round_trip.count(), 0);
    EXPECT_LT(beat.round_trip, 2s);
    EXPECT_EQ(beat.holds, 1U);
    ASSERT_TRUE(beat.lease_left);
    EXPECT_GT(*beat.lease_left, 0s);
    EXPECT_LT(*beat.lease_left, connection.session_timeout());
  }
}

// Heartbeats ask after each hold; those requests are no work of the program.
TEST_F(ObserverTest, IdleConnectionAndIdleHolds_HaveNoRequestsInFlight) {
  Connection& connection = observed(2s);
  const auto requests_in_two_beats = [&] {
    const std::size_t before = log->heartbeats().size() + 1;  // one may have been on its way
    EXPECT_TRUE(wait_for([&] { return log->heartbeats().size() >= before + 2; }));
    const std::vector<HeartbeatAnswered> beats = log->heartbeats();
    std::size_t requests = 0;
    for (std::size_t i = before; i < beats.size(); ++i) requests += beats[i].requests_in_flight;
    return requests;
  };
  EXPECT_EQ(requests_in_two_beats(), 0U);
  std::list<FairMutex> locks;
  std::vector<Hold> holds;
  for (const char* path : {"/a", "/b", "/c"}) holds.push_back(locks.emplace_back(connection, path).acquire());
  EXPECT_EQ(requests_in_two_beats(), 0U);
}

TEST_F(ObserverTest, ANodeThatIsCreatedTooLate_IsALeftover) {
  Connection& connection = connect(observed(options_by_proxy()));
  FairMutex mutex(connection, kPath);
  mutex.acquire().release();  // the folder of the lock is there
  proxy().hold_reply(RequestKind::create);
  {
    const PendingHold dropped = mutex.acquire_async();
    ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  }
  proxy().release_held();
  ASSERT_TRUE(wait_for([&] { return log->leftovers().size() == 1; }));
  EXPECT_THAT(log->leftovers().front().node, HasSubstr(std::string(kPath) + "/_c_"));
}

// ---- Bad input ----

TEST_F(ObserverTest, ANameThatIsNoLabel_IsRefused) {
  Connection& connection = connect();
  EXPECT_THROW(FairMutex(connection, kPath, named(std::string(129, 'x'))), std::invalid_argument);
  EXPECT_THROW(SimpleLock(connection, kPath, named("a\nb")), std::invalid_argument);
  EXPECT_THROW(Semaphore(connection, kPath, 1, named("bestätigt")), std::invalid_argument);
  const FairMutex fine(connection, kPath, named(std::string(128, 'x')));
}

}  // namespace
}  // namespace zkrecipes::testing
