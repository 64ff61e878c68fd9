// SPDX-License-Identifier: Apache-2.0
// The cost of the recipes on the wire, counted by the proxy and compared with the promised numbers.
#include <iomanip>
#include <iostream>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

struct Cost {
  int round_trips = 0;  // that the caller waits for
  int requests = 0;     // all, those in the background included
};

bool operator==(const Cost& a, const Cost& b) {
  return a.round_trips == b.round_trips && a.requests == b.requests;
}
std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.round_trips << " / " << cost.requests;
}

/// Requests that no grant waits for: heartbeats and the check behind a grant by deletion, and the removal of
/// nodes and watches.
bool is_background(RequestKind kind) {
  return kind == RequestKind::ping || kind == RequestKind::exists || kind == RequestKind::remove ||
         kind == RequestKind::remove_watches;
}

/// Groups of requests in flight together, up to the last reply of each.
int round_trips_in(const std::vector<Observed>& trace, const std::function<bool(RequestKind)>& ignored) {
  int round_trips = 0;
  int in_flight = 0;
  for (const Observed& observed : trace) {
    if (observed.sort == Message::Sort::watch_event || ignored(observed.kind)) continue;
    if (observed.sort == Message::Sort::request)
      ++in_flight;
    else if (--in_flight == 0)
      ++round_trips;
  }
  return round_trips;
}

int requests_in(const std::vector<Observed>& trace) {
  int requests = 0;
  for (const Observed& observed : trace) {
    const bool upkeep = observed.kind == RequestKind::ping || observed.kind == RequestKind::exists;
    requests += observed.sort == Message::Sort::request && !upkeep ? 1 : 0;
  }
  return requests;
}

template <class Lock>
class CostTest : public RecipeTest {
 protected:
  /// Long enough for no heartbeat to come while something is being counted.
  static constexpr std::chrono::seconds kQuiet{60};
  /// Long enough for requests that are sent one after the other without waiting to be in flight together, also on a
  /// machine that is slow between the two.
  static constexpr std::chrono::milliseconds kEachWay{50};

  /// Connected through the proxy, its first heartbeat behind it.
  Connection& connect_counted() {
    Connection& connection = connect_by_proxy(kQuiet);
    proxy().wait_until([](const FaultProxy::Counts& counts) { return counts.of(RequestKind::exists) > 0; }, kLimit);
    settle(connection);
    return connection;
  }
  void settle(Connection& connection) {
    EXPECT_TRUE(wait_for([&] { return load_of(connection).requests == 0; }));
  }

  /// Counts what happens until `granted` returns. Replies that nobody is to wait for do not reach the client until
  /// then: should somebody wait for them all the same, the test hangs and fails.
  Cost count(const std::function<Hold()>& granted, Hold& hold, Connection& connection) {
    settle(connection);
    proxy().reset_counts();
    proxy().hold_reply(RequestKind::remove);
    proxy().hold_reply(RequestKind::remove_watches);
    proxy().hold_reply(RequestKind::exists);
    proxy().delay(kEachWay);
    hold = granted();
    proxy().delay(0ms);
    proxy().clear_faults();
    proxy().release_held();
    settle(connection);
    return {round_trips_in(proxy().trace(), is_background), requests_in(proxy().trace())};
  }
};

TYPED_TEST_SUITE(CostTest, LockTypes, LockTypeNames);

struct Expected {
  Cost acquire, unlock, release, second_in_line, deeper_in_line;
};

template <class Lock>
Expected expected_cost() {
  const std::string name = Lock::kName;
  if (name == "FairMutex") return {{1, 2}, {0, 1}, {1, 1}, {0, 0}, {1, 1}};
  // Races for the node at every release, so there is nothing deeper than second.
  if (name == "SimpleLock") return {{1, 1}, {0, 1}, {1, 1}, {1, 1}, {1, 1}};
  // Lists again, because a writer that downgrades puts a node in front.
  if (name == "ReadWriteLock") return {{1, 2}, {0, 1}, {1, 1}, {1, 1}, {1, 1}};
  // The fifth request gives the place in line back. The head of the line has its lease already and counts again, with a
  // watch that is then taken back like the place in line; a contender that was deeper in the line has become the head
  // by then.
  return {{2, 5}, {0, 1}, {1, 1}, {1, 3}, {1, 3}};
}

TYPED_TEST(CostTest, RoundTripsAndRequests_AreAsExpected) {
  Connection& counted = this->connect_counted();
  Connection& other = this->connect();
  Connection& third = this->connect();
  TypeParam lock(counted, this->kPath), blocker(other, this->kPath), between(third, this->kPath);
  lock.acquire().release();
  this->settle(counted);

  Expected cost;
  Hold hold;
  cost.acquire = this->count([&] { return lock.acquire(); }, hold, counted);

  this->proxy().reset_counts();
  this->proxy().hold_reply(RequestKind::remove);
  hold = Hold();
  cost.unlock.round_trips = 0;  // it has returned although no reply can have come
  ASSERT_TRUE(this->proxy().wait_until_fired(kLimit));
  this->proxy().release_held();
  this->settle(counted);
  cost.unlock.requests = requests_in(this->proxy().trace());

  hold = lock.acquire();
  this->settle(counted);
  this->proxy().reset_counts();
  hold.release();
  cost.release = {round_trips_in(this->proxy().trace(), [](RequestKind kind) { return kind == RequestKind::exists; }),
                  requests_in(this->proxy().trace())};

  // The head of a semaphore's line has its lease beside the holder's; before, it may still wait for the holder to leave
  // the line.
  const auto next_in_line = [&] {
    const bool leases = std::string(TypeParam::kPath) == "/locks";
    return (!leases || this->wait_for_children(std::string(this->kPath) + "/leases", 2)) &&
           this->wait_for_waiters(counted, 1);
  };
  Hold ahead = blocker.acquire();
  PendingHold second = lock.acquire_async();
  ASSERT_TRUE(next_in_line());
  cost.second_in_line = this->count(
      [&] {
        ahead.release();
        return this->get(second);
      },
      hold, counted);
  EXPECT_EQ(this->proxy().counts().watch_events, 1);
  hold.release();

  ahead = blocker.acquire();
  PendingHold middle = between.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(third, 1));
  PendingHold last = lock.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(counted, 1));
  if (TypeParam::kFair) {
    ahead.release();
    ahead = this->get(middle);
    ASSERT_TRUE(next_in_line());
  } else {
    middle.cancel();
  }
  cost.deeper_in_line = this->count(
      [&] {
        ahead.release();
        return this->get(last);
      },
      hold, counted);
  hold.release();

  std::cout << "round trips / requests   acquire  unlock  release  second in line  deeper in line\n"
            << std::left << std::setw(25) << TypeParam::kName << cost.acquire << "    " << cost.unlock << "   "
            << cost.release << "    " << cost.second_in_line << "           " << cost.deeper_in_line << std::endl;
  const Expected expected = expected_cost<TypeParam>();
  EXPECT_EQ(cost.acquire, expected.acquire);
  EXPECT_EQ(cost.unlock, expected.unlock);
  EXPECT_EQ(cost.release, expected.release);
  EXPECT_EQ(cost.second_in_line, expected.second_in_line);
  EXPECT_EQ(cost.deeper_in_line, expected.deeper_in_line);
}

class WatchEventsTest : public RecipeTest {
 protected:
  /// Watch events that one release causes with this many waiters, spread over this many connections.
  template <class Lock>
  long events_per_release(int waiters, int connections) {
    const std::string path = std::string("/") + Lock::kName + std::to_string(waiters);
    std::vector<Connection*> waiting;
    for (int i = 0; i < connections; ++i) waiting.push_back(&begin_connect(options_by_proxy()));
    Lock holder(connect(), path);
    Hold hold = holder.acquire();
    std::vector<std::unique_ptr<Lock>> locks;
    std::vector<PendingHold> pending;
    for (int i = 0; i < waiters; ++i) {
      locks.push_back(std::make_unique<Lock>(*waiting[static_cast<std::size_t>(i % connections)], path));
      pending.push_back(locks.back()->acquire_async());
    }
    const auto settled = [&] {
      std::size_t watches = 0;
      for (Connection* connection : waiting) {
        if (load_of(*connection).requests != 0) return false;
        watches += load_of(*connection).watches;
      }
      return watches == pending.size();
    };
    EXPECT_TRUE(wait_for(settled));
    proxy().reset_counts();
    hold.release();
    EXPECT_TRUE(wait_for([&] {
      for (const PendingHold& each : pending)
        if (each.ready()) return true;
      return false;
    }));
    for (auto each = pending.begin(); each != pending.end(); ++each) {
      if (!each->ready()) continue;
      hold = each->get();
      pending.erase(each);
      break;
    }
    EXPECT_TRUE(wait_for(settled)) << "the others wait again";
    const long events = proxy().counts().watch_events;
    for (PendingHold& each : pending) each.cancel();
    hold.release();
    for (Connection* connection : waiting) {
      EXPECT_TRUE(wait_for([&] { return load_of(*connection).requests == 0; }));
      disconnect(*connection);
    }
    return events;
  }
};

TEST_F(WatchEventsTest, ARelease_WakesOneWaiterOfAFairMutexAndAllOfASimpleLock) {
  std::cout << "waiters   watch events per release: FairMutex, SimpleLock\n";
  for (const int waiters : {2, 8, 64, 256}) {
    const long fair = events_per_release<FairMutexUnderTest>(waiters, 8);
    // Waiters of one connection share one watch on the server.
    const long simple = events_per_release<SimpleLockUnderTest>(waiters, waiters);
    std::cout << std::setw(7) << waiters << std::setw(8) << fair << std::setw(8) << simple << std::endl;
    EXPECT_EQ(fair, 1);
    EXPECT_EQ(simple, waiters);
  }
}

}  // namespace
}  // namespace zkrecipes::testing
