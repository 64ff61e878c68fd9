// SPDX-License-Identifier: Apache-2.0
// LockOptions::look_ahead on a real server: what a release wakes, what a grant asks for, and the order.
#include <iomanip>
#include <iostream>
#include <mutex>
#include <random>

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

LockOptions look_ahead(bool on = true) {
  LockOptions options;
  options.look_ahead = on;
  return options;
}

class LookAheadTest : public RecipeTest {
 protected:
  /// Waiters behind a holder, each on a connection of its own through the proxy, in the order of `pending`.
  struct Line {
    std::vector<Connection*> connections;
    std::vector<std::unique_ptr<FairMutex>> mutexes;
    std::vector<PendingHold> pending;
  };
  Line make_line(std::size_t waiters, const std::string& path, const LockOptions& options) {
    Line line;
    for (std::size_t i = 0; i < waiters; ++i) line.connections.push_back(&begin_connect(options_by_proxy()));
    for (Connection* const connection : line.connections) {
      line.mutexes.push_back(std::make_unique<FairMutex>(*connection, path, options));
      line.pending.push_back(line.mutexes.back()->acquire_async());
      EXPECT_TRUE(wait_for_waiters(*connection, 1));
    }
    return line;
  }
  static bool settled(const Line& line) {
    return wait_for([&] {
      for (Connection* const connection : line.connections)
        if (load_of(*connection).requests != 0) return false;
      return true;
    });
  }

  /// The most watch events that one of these releases causes: the holder's, then those of the first in line.
  long most_events_per_release(std::size_t waiters, int releases, bool with_look_ahead) {
    const std::string path = "/lock_" + std::to_string(waiters) + (with_look_ahead ? "_look_ahead" : "");
    FairMutex holder(connect(), path);
    Hold hold = holder.acquire();
    Line line = make_line(waiters, path, look_ahead(with_look_ahead));
    long most = 0;
    for (int i = 0; i < releases; ++i) {
      EXPECT_TRUE(settled(line));
      proxy().reset_counts();
      hold.release();
      hold = get(line.pending[static_cast<std::size_t>(i)]);
      EXPECT_TRUE(settled(line));
      most = std::max(most, proxy().counts().watch_events);
    }
    hold.release();
    line.pending.clear();
    EXPECT_TRUE(settled(line));
    for (Connection* const connection : line.connections) disconnect(*connection);
    return most;
  }
};

TEST_F(LookAheadTest, ARelease_WakesTheNextAndTheOneBehindItAndNobodyElse) {
  std::cout << "waiters   most watch events of a release: without look-ahead, with\n";
  for (const std::size_t waiters : {2, 8, 64, 256}) {
    const int releases = waiters == 2 ? 2 : 4;
    const long without = most_events_per_release(waiters, releases, false);
    const long with = most_events_per_release(waiters, releases, true);
    std::cout << std::setw(7) << waiters << std::setw(8) << without << std::setw(8) << with << std::endl;
    EXPECT_EQ(without, 1);
    EXPECT_LE(with, 2);
  }
}

TEST_F(LookAheadTest, DeepInTheLine_TheGrantAsksForNothing) {
  FairMutex holder(connect(), kPath);
  Hold hold = holder.acquire();
  Connection& counted = connect_by_proxy(60s);
  std::vector<std::unique_ptr<FairMutex>> others;
  std::vector<PendingHold> turns;
  for (int i = 0; i < 3; ++i) {
    Connection& connection = connect();
    others.push_back(std::make_unique<FairMutex>(connection, kPath));
    turns.push_back(others.back()->acquire_async());
    ASSERT_TRUE(wait_for_waiters(connection, 1));
  }
  FairMutex mutex(counted, kPath, look_ahead());
  PendingHold pending = mutex.acquire_async();
  ASSERT_TRUE(wait_for_waiters(counted, 1));
  const auto listings = [&] { return proxy().counts().of(RequestKind::get_children); };
  const auto moved_up = listings() + 1;
  for (PendingHold& turn : turns) {
    hold.release();
    hold = get(turn);
  }
  // It has moved up: the node before its predecessor has left, and it has listed again.
  ASSERT_TRUE(wait_for([&] { return listings() == moved_up && load_of(counted).requests == 0; }));
  proxy().reset_counts();
  // What it might ask for is not answered, so that the grant cannot depend on it.
  for (const RequestKind kind :
       {RequestKind::get_children, RequestKind::get_data, RequestKind::exists, RequestKind::set_data})
    proxy().hold_reply(kind);
  hold.release();
  const Hold granted = get(pending);
  EXPECT_TRUE(granted.is_valid());
  EXPECT_EQ(granted.cost().queue_position, 4);
  EXPECT_EQ(granted.cost().wakeups, 2);
  EXPECT_EQ(proxy().counts().of(RequestKind::get_children), 0);
  EXPECT_EQ(proxy().counts().of(RequestKind::get_data), 0);
  proxy().clear_faults();
  proxy().release_held();
}

TEST_F(LookAheadTest, APredecessorThatGivesUp_DoesNotHandItsTurnOn) {
  FairMutex holder(connect(), kPath);
  Hold hold = holder.acquire();
  Line line = make_line(4, kPath, look_ahead());
  // The third watches the first, the fourth the second.
  line.pending[0].cancel();
  line.pending[1].cancel();
  ASSERT_TRUE(settled(line));
  EXPECT_FALSE(line.pending[2].wait_for(kMoment));
  EXPECT_FALSE(line.pending[3].ready());
  hold.release();
  Hold third = get(line.pending[2]);
  EXPECT_FALSE(line.pending[3].wait_for(kMoment));
  third.release();
  EXPECT_TRUE(get(line.pending[3]).is_valid());
}

TEST_F(LookAheadTest, MixedWithOthersThatGiveUp_ServesInOrderOfArrivalAndOneAtATime) {
  constexpr int kContenders = 12;
  constexpr int kRounds = 25;
  CriticalSection section;
  std::mutex mutex;
  std::vector<std::int64_t> tokens;
  Crowd crowd(kContenders, [&](int number) {
    std::mt19937 random(static_cast<unsigned>(number));
    Connection connection(options());
    FairMutex lock(connection, kPath, look_ahead(number % 3 != 0));
    for (int i = 0; i < kRounds; ++i) {
      const auto patience = random() % 4 == 0 ? std::chrono::milliseconds(random() % 5) : kLimit;
      AcquireResult hold = lock.try_acquire_for(patience);
      if (!hold) continue;
      section.enter();
      {
        const std::lock_guard guard(mutex);
        tokens.push_back(hold->token().zxid);
      }
      section.leave();
    }
  });
  crowd.join();
  EXPECT_EQ(section.overlaps(), 0);
  EXPECT_GE(section.entries(), kContenders * kRounds / 2);
  EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
}

TEST_F(LookAheadTest, OtherRecipes_HaveItWhereTheyStandInLine) {
  ReadWriteLock read_write(connect(), "/read_write", look_ahead());
  Hold first = read_write.acquire_read();
  Hold second = read_write.acquire_read();
  PendingHold writer = read_write.acquire_write_async();
  EXPECT_FALSE(writer.wait_for(kMoment));
  second.release();
  EXPECT_FALSE(writer.wait_for(kMoment));
  first.release();
  EXPECT_TRUE(get(writer).is_valid());

  Connection& connection = connect();
  Semaphore semaphore(connection, "/semaphore", 1, look_ahead());
  Hold permit = semaphore.acquire();
  std::vector<PendingHold> line;
  for (std::size_t i = 1; i <= 4; ++i) {
    line.push_back(semaphore.acquire_async());
    ASSERT_TRUE(wait_for_children("/semaphore/locks", i));
  }
  ASSERT_TRUE(wait_for_waiters(connection, 4));
  permit.release();
  for (PendingHold& turn : line) EXPECT_TRUE(get(turn).is_valid());

  RecursiveFairMutex recursive(connect(), "/recursive", look_ahead());
  recursive.lock();
  recursive.lock();
  recursive.unlock();
  recursive.unlock();

  EXPECT_THROW(SimpleLock(connect(), "/simple", look_ahead()), std::invalid_argument);
}

}  // namespace
}  // namespace zkrecipes::testing
