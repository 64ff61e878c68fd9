// SPDX-License-Identifier: Apache-2.0
// Many at once: expiries, pending holds, threads. Each prints its figures.
#include <iostream>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class ScaleTest : public ControlledRecipeTest {};

// A hundred holders are cut off from the server. Each must know that its hold is lost before the server can give the
// lock to the next one.
TEST_F(ScaleTest, HoldersThatAreCutOff_KnowBeforeTheServerGivesTheirLocksAway) {
  constexpr std::size_t kHolders = 100;
  struct Case {
    std::unique_ptr<FairMutex> lock, other;
    Hold hold, next;
    PendingHold waiter;
    CallCount lost;
    Subscription subscription;
    std::atomic<Clock::time_point> lost_at{Clock::time_point::max()};
    std::atomic<Clock::time_point> granted_at{};
    std::atomic<bool> valid_at_grant{true};
  };
  std::vector<Connection*> connections;
  for (std::size_t i = 0; i < kHolders; ++i) connections.push_back(&begin_connect(options_by_proxy(8s)));
  Connection& waiting = connect();
  std::vector<std::unique_ptr<Case>> cases;
  for (std::size_t i = 0; i < kHolders; ++i) {
    auto& each = *cases.emplace_back(std::make_unique<Case>());
    const std::string path = "/lock-" + std::to_string(i);
    each.lock = std::make_unique<FairMutex>(*connections[i], path);
    each.other = std::make_unique<FairMutex>(waiting, path);
    each.hold = each.lock->acquire();
    each.subscription = each.hold.on_lost([&each, count = each.lost] {
      each.lost_at = Clock::now();
      count.handler()();
    });
    each.waiter = each.other->acquire_async();
    each.waiter.on_ready([&each](AcquireResult result) {
      each.next = std::move(result).value();
      each.valid_at_grant = each.hold.is_valid();
      each.granted_at = Clock::now();
    });
  }
  ASSERT_TRUE(wait_for_waiters(waiting, kHolders));
  proxy().black_hole();
  std::size_t once = 0, in_time = 0, larger = 0, never_both = 0;
  auto margin = Clock::duration::max();
  for (const auto& each : cases) {
    EXPECT_TRUE(each->lost.wait());
    ASSERT_TRUE(wait_for([&] { return each->granted_at.load() != Clock::time_point{}; }));
    larger += each->next.token() > each->hold.token() ? 1 : 0;
    never_both += each->valid_at_grant ? 0 : 1;
    in_time += each->lost_at.load() <= each->granted_at.load() ? 1 : 0;
    margin = std::min(margin, each->granted_at.load() - each->lost_at.load());
  }
  proxy().heal();
  for (Connection* connection : connections) ASSERT_TRUE(wait_for_state(*connection, ConnectionState::connected));
  for (const auto& each : cases) once += each->lost.count() == 1 ? 1 : 0;
  std::cout << "cut off: on_lost once " << once << ", before the next grant " << in_time << ", invalid by then "
            << never_both << ", next token larger " << larger << " of " << kHolders << "; smallest lead "
            << std::chrono::duration_cast<std::chrono::milliseconds>(margin).count() << " ms" << std::endl;
  EXPECT_EQ(once, kHolders);
  EXPECT_EQ(in_time, kHolders);
  EXPECT_EQ(never_both, kHolders);
  EXPECT_EQ(larger, kHolders);
}

// The same with sessions that the server ends without warning.
TEST_F(ScaleTest, HoldersWhoseSessionsExpire_AreNotifiedOnceEach) {
  constexpr std::size_t kHolders = 100;
  std::vector<Connection*> connections;
  for (std::size_t i = 0; i < kHolders; ++i) connections.push_back(&begin_connect(options()));
  Connection& waiting = connect();
  std::vector<Hold> holds;
  std::vector<PendingHold> waiters;
  std::vector<CallCount> lost(kHolders);
  std::vector<Subscription> subscriptions;
  for (std::size_t i = 0; i < kHolders; ++i) {
    const std::string path = "/lock-" + std::to_string(i);
    holds.push_back(FairMutex(*connections[i], path).acquire());
    subscriptions.push_back(holds.back().on_lost(lost[i].handler()));
    waiters.push_back(FairMutex(waiting, path).acquire_async());
  }
  ASSERT_TRUE(wait_for_waiters(waiting, kHolders));
  for (Connection* connection : connections) expire_session(*connection);
  std::size_t larger = 0, once = 0;
  for (std::size_t i = 0; i < kHolders; ++i) {
    larger += get(waiters[i]).token() > holds[i].token() ? 1 : 0;
    EXPECT_TRUE(lost[i].wait());
    EXPECT_FALSE(holds[i].is_valid());
  }
  holds.clear();
  for (const CallCount& each : lost) once += each.count() == 1 ? 1 : 0;
  std::cout << "expired: on_lost once " << once << ", next token larger " << larger << " of " << kHolders << std::endl;
  EXPECT_EQ(once, kHolders);
  EXPECT_EQ(larger, kHolders);
}

TEST_F(ScaleTest, OneThread_WaitsForFiveThousandLocks) {
  constexpr std::size_t kLocks = 5000;
  Connection& holding = connect();
  Connection& waiting = connect();
  const int ephemerals_before = server().info().ephemerals;
  std::vector<PendingHold> taken;
  std::vector<PendingHold> pending;
  for (std::size_t i = 0; i < kLocks; ++i)
    taken.push_back(FairMutex(holding, "/many/" + std::to_string(i)).acquire_async());
  std::vector<Hold> holds;
  for (PendingHold& each : taken) holds.push_back(get(each));
  const auto start = Clock::now();
  std::atomic<std::size_t> granted{0}, stopped{0}, ready{0};
  for (std::size_t i = 0; i < kLocks; ++i) {
    pending.push_back(FairMutex(waiting, "/many/" + std::to_string(i)).acquire_async());
    pending.back().on_ready([&](const AcquireResult& result) {
      granted += result && result->is_valid() ? 1 : 0;
      stopped += result.status() == AcquireStatus::stopped ? 1 : 0;
      ++ready;
    });
  }
  ASSERT_TRUE(wait_for([&] { return load_of(waiting).watches == kLocks; }, 10 * kLimit));
  const auto queued = Clock::now();
  std::size_t cancelled = 0;
  for (std::size_t i = 0; i < kLocks; i += 10, ++cancelled) pending[i].cancel();
  holds.clear();
  const auto ms = [](auto duration) { return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count(); };
  EXPECT_TRUE(wait_for([&] { return ready == kLocks; }, 10 * kLimit));
  EXPECT_EQ(stopped, cancelled);
  EXPECT_EQ(granted + cancelled, kLocks);
  EXPECT_TRUE(wait_for([&] { return server().info().ephemerals <= ephemerals_before; }));
  std::cout << "one thread, one connection: " << granted << " granted and " << cancelled << " cancelled of " << kLocks
            << "; queued in " << ms(queued - start) << " ms, all over after " << ms(Clock::now() - start)
            << " ms; nodes left: 0" << std::endl;
  // The paths themselves, all at once: the fixture would do it one by one.
  const SyncClient client(waiting);
  std::vector<RemoveAnswer> removed;
  for (std::size_t i = 0; i < kLocks; ++i) removed.push_back(client.begin_remove("/many/" + std::to_string(i)));
  for (const RemoveAnswer& each : removed) EXPECT_EQ(each.part(), detail::Status::ok);
}

TEST_F(ScaleTest, AThousandThreadsOnOneObject_AreWokenOneByOne) {
  // Each of n newcomers lists all who stand before it: a million names, too many for a build that is tenfold slower.
#ifdef __SANITIZE_THREAD__
  constexpr int kThreads = 200;
#else
  constexpr int kThreads = 1000;
#endif
  Connection& connection = connect_by_proxy();
  FairMutex mutex(connection, kPath);
  Hold hold = mutex.acquire();
  CriticalSection section;
  std::atomic<int> most_wakeups{0}, wakeups{0};
  Crowd crowd(kThreads, [&](int) {
    const Hold mine = mutex.acquire();
    section.enter();
    wakeups += mine.cost().wakeups;
    if (mine.cost().wakeups > most_wakeups) most_wakeups = mine.cost().wakeups;
    section.leave();
  });
  EXPECT_TRUE(wait_for_waiters(connection, kThreads));
  proxy().reset_counts();
  hold.release();
  crowd.join();
  const long events = proxy().counts().watch_events;
  std::cout << kThreads << " threads on one object: " << section.entries() << " hand-overs, " << events
            << " watch events, " << wakeups << " wake-ups, at most " << most_wakeups << " per waiter" << std::endl;
  EXPECT_EQ(section.entries(), kThreads);
  EXPECT_EQ(section.overlaps(), 0);
  EXPECT_EQ(wakeups, kThreads);
  EXPECT_EQ(most_wakeups, 1);
  EXPECT_EQ(events, kThreads);
}

}  // namespace
}  // namespace zkrecipes::testing
