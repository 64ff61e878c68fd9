// SPDX-License-Identifier: Apache-2.0
// Observers and threads: what an observer may do, and that its events pair whatever happens.
#include <boost/thread/thread.hpp>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/recipes/event_log.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class ObserverThreadsTest : public ControlledRecipeTest {};

/// Calls functions of the program with each event.
class Meddler : public EventLog {
 public:
  void on_acquired(const LockAcquired& event) override {
    EventLog::on_acquired(event);
    if (at_acquired) at_acquired();
  }
  void on_not_acquired(const LockNotAcquired& event) override {
    EventLog::on_not_acquired(event);
    if (at_not_acquired) at_not_acquired();
  }
  void on_released(const LockReleased& event) override {
    EventLog::on_released(event);
    if (at_released) at_released();
  }
  void on_lost(const LockLost& event) override {
    EventLog::on_lost(event);
    if (at_lost) at_lost();
  }
  std::function<void()> at_acquired, at_not_acquired, at_released, at_lost;
};

TEST_F(ObserverThreadsTest, InsideTheObserver_CallsThatBlockAreRefusedAndOthersWork) {
  const auto meddler = std::make_shared<Meddler>();
  ConnectionOptions settings = options();
  settings.observer = meddler;
  Connection& connection = connect(settings);
  FairMutex mutex(connection, kPath);
  RecursiveReadWriteLock lock(connection, "/other");
  std::atomic<int> refused{0};
  meddler->at_released = [&] {
    EXPECT_EQ(connection.state(), ConnectionState::connected);
    EXPECT_FALSE(mutex.is_held());
    EXPECT_FALSE(lock.is_held());
    try {
      mutex.lock();
    } catch (const std::logic_error&) {
      ++refused;
    }
  };
  mutex.lock();
  mutex.unlock();
  lock.lock();
  lock.unlock();
  ASSERT_TRUE(wait_for([&] { return refused == 2; }));
  meddler->at_released = nullptr;
}

// Whether that is more than luck is for AddressSanitizer to say.
TEST_F(ObserverThreadsTest, InsideTheObserver_TheObjectWhoseCallIsRunningMayBeDestroyed) {
  const auto meddler = std::make_shared<Meddler>();
  ConnectionOptions settings = options();
  settings.observer = meddler;
  Connection& connection = connect(settings);
  FairMutex mutex(connection, kPath), other(connection, "/other");
  auto hold = std::make_unique<Hold>(mutex.acquire());
  meddler->at_released = [&] { hold.reset(); };
  hold->release();
  EXPECT_FALSE(hold);

  hold = std::make_unique<Hold>(mutex.acquire());
  EXPECT_TRUE(hold->release_for(20s));
  EXPECT_FALSE(hold);

  // Assigned over: the hold that was assigned ends with the object.
  hold = std::make_unique<Hold>(mutex.acquire());
  *hold = other.acquire();
  EXPECT_FALSE(hold);
  EXPECT_TRUE(wait_for([&] { return meddler->released().size() == 4; }));
  EXPECT_TRUE(wait_for_nodes("/other", 0));
  meddler->at_released = nullptr;

  const Hold blocking = mutex.acquire();
  auto pending = std::make_unique<PendingHold>(mutex.acquire_async());
  ASSERT_TRUE(wait_for_waiters(connection, 1));
  meddler->at_not_acquired = [&] { pending.reset(); };
  pending->cancel();
  EXPECT_FALSE(pending);
  meddler->at_not_acquired = nullptr;
}

TEST_F(ObserverThreadsTest, ChangedPermits_CallTheObserverWithoutAMutex) {
  const auto meddler = std::make_shared<Meddler>();
  ConnectionOptions settings = options();
  settings.observer = meddler;
  Semaphore semaphore(connect(settings), kPath, 2);
  meddler->at_acquired = [&] { semaphore.set_permits(2); };  // needs the mutex of the semaphore
  Hold hold = semaphore.acquire(2);
  PendingHold pending = semaphore.acquire_async();
  ASSERT_TRUE(wait_for([&] { return meddler->waiting().size() == 1; }));
  semaphore.set_permits(3);
  get(pending).release();
  hold.release();
  ASSERT_TRUE(wait_for([&] { return meddler->released().size() == 2; }));
  meddler->at_acquired = nullptr;
}

TEST_F(ObserverThreadsTest, AnObserverThatIsSlow_DoesNotHoldUpTheNextInLine) {
  const auto meddler = std::make_shared<Meddler>();
  ConnectionOptions settings = options();
  settings.observer = meddler;
  LockOptions retained;
  retained.retain = 60s;
  Connection& observed = connect(settings);
  for (const LockOptions& lock_options : {LockOptions(), retained}) {
    FairMutex mutex(observed, kPath, lock_options), other(connect(), kPath);
    Hold hold = mutex.acquire();
    PendingHold next = other.acquire_async();
    Gate gate;
    meddler->at_released = [&] { gate.pass(); };
    {
      Background releasing([&] { hold.release(); });
      EXPECT_TRUE(gate.wait_until_reached());
      EXPECT_TRUE(wait_until_ready(next, 5s)) << "retained: " << lock_options.retain.count();
      gate.open();
    }
    meddler->at_released = nullptr;
    get(next).release();
  }
}

// The event is on its way at the moment of the fork: its line is being logged, and the observer is to hear of it next.
TEST_F(ObserverThreadsTest, TheChildOfAFork_ReportsNothing) {
  const auto log = std::make_shared<EventLog>();
  Gate gate;
  ConnectionOptions settings = options(5s);
  settings.observer = log;
  settings.log = [&](LogSeverity, const std::string& line) {
    if (line.find("hold lost") != std::string::npos) gate.pass();
  };
  FairMutex mutex(connect(settings), kPath);
  Hold hold = mutex.acquire();
  remove_node(hold.node());
  ASSERT_TRUE(gate.wait_until_reached());
  const pid_t child = fork();
  if (child == 0) {
    hold = Hold();
    _exit(log->lost().empty() ? 0 : 1);
  }
  int status = -1;
  EXPECT_TRUE(wait_for([&] { return waitpid(child, &status, WNOHANG) == child; }));
  EXPECT_EQ(status, 0);
  gate.open();
  EXPECT_TRUE(wait_for([&] { return log->lost().size() == 1; }));
}

TEST_F(ObserverThreadsTest, AnInterruptionWhileTheObserverRuns_IsForTheCallerOfTheLibrary) {
  const auto meddler = std::make_shared<Meddler>();
  ConnectionOptions settings = options();
  settings.observer = meddler;
  FairMutex mutex(connect(settings), kPath);
  Gate gate;
  std::atomic<std::thread::id> caller{};
  std::atomic<bool> on_the_callers_thread{false};
  meddler->at_released = [&] {
    if (std::this_thread::get_id() != caller.load()) return;
    on_the_callers_thread = true;
    gate.pass();
    boost::this_thread::interruption_point();
  };
  std::atomic<bool> interrupted{false};
  boost::thread program([&] {
    caller = std::this_thread::get_id();
    // A thread of the library that is still reporting the grant reports the release, too. Then once more.
    for (int round = 0; round < 1000 && !on_the_callers_thread; ++round) {
      mutex.lock();
      mutex.unlock();
    }
    interrupted = boost::this_thread::interruption_requested();
  });
  EXPECT_TRUE(gate.wait_until_reached());
  program.interrupt();
  gate.open();
  program.join();
  EXPECT_TRUE(interrupted);
}

TEST_F(ObserverThreadsTest, AnObserverThatThrows_DisturbsNothing) {
  class Thrower : public Observer {
   public:
    void on_acquired(const LockAcquired&) override { throw std::runtime_error("no room for a label"); }
    void on_released(const LockReleased&) override { throw 1; }
    void on_heartbeat(const HeartbeatAnswered&) override { throw std::runtime_error("no room"); }
  };
  std::atomic<int> lines{0};
  ConnectionOptions settings = options(2s);
  settings.observer = std::make_shared<Thrower>();
  settings.log = [&](LogSeverity, const std::string& line) {
    if (line.find("observer threw") != std::string::npos) ++lines;
  };
  Connection& connection = connect(settings);
  FairMutex mutex(connection, kPath);
  for (int i = 0; i < 3; ++i) mutex.acquire().release();
  EXPECT_TRUE(wait_for([&] { return lines >= 7; })) << "six of the lock, and heartbeats";
  disconnect(connection);
}

TEST_F(ObserverThreadsTest, TheObserver_LivesAsLongAsTheLastHold) {
  auto log = std::make_shared<EventLog>();
  const std::weak_ptr<EventLog> alive = log;
  Hold hold;
  {
    ConnectionOptions settings = options();
    settings.observer = log;
    Connection connection(settings);
    FairMutex mutex(connection, kPath);
    hold = mutex.acquire();
    log = nullptr;
  }
  ASSERT_FALSE(alive.expired());
  EXPECT_EQ(alive.lock()->open(), 0U);
  hold = Hold();
  EXPECT_TRUE(wait_for([&] { return alive.expired(); }));
}

/// Threads that acquire in all ways while sessions expire and connections break.
TEST_F(ObserverThreadsTest, UnderFaults_AllEventsPair) {
  constexpr int kThreads = 6;
  const auto log = std::make_shared<EventLog>();
  ConnectionOptions settings = options_by_proxy(6s);
  settings.observer = log;
  Connection& connection = connect(settings);
  LockOptions retain;
  retain.retain = 20ms;
  FairMutex retained(connection, "/retained", retain);
  FairMutex fair(connection, "/fair");
  SimpleLock simple(connection, "/simple");
  Semaphore semaphore(connection, "/semaphore", 3);
  RecursiveReadWriteLock shared(connection, "/shared");
  std::atomic<std::uint64_t> attempts{0};
  std::atomic<bool> stop{false};
  {
    const Crowd crowd(kThreads, [&](int thread) {
      std::mt19937 random(static_cast<unsigned>(thread));
      while (!stop) {
        try {
          ++attempts;
          switch (random() % 7) {
            case 0:
              static_cast<void>(retained.try_acquire_for(30ms));
              break;
            case 1:
              static_cast<void>(fair.try_acquire());
              break;
            case 2:
              static_cast<void>(simple.try_acquire_for(std::chrono::milliseconds(random() % 20)));
              break;
            case 3:
              static_cast<void>(semaphore.try_acquire_for(2, 20ms));
              break;
            case 4:
              if (shared.try_lock_for(20ms)) {
                shared.lock_shared();
                shared.unlock();  // a downgrade
                shared.unlock_shared();
              }
              break;
            case 5: {
              PendingHold dropped = fair.acquire_async();
              if (random() % 2 == 0) dropped.wait_for(5ms);
              break;
            }
            default: {
              PendingHold cancelled = retained.acquire_async();
              cancelled.cancel();
            }
          }
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
      }
    });
    for (int round = 0; round < 4; ++round) {
      const std::size_t before = log->names().size();
      ASSERT_TRUE(wait_for([&] { return log->names().size() > before + 200; }));
      if (round % 2 == 0)
        lose_connection();
      else
        expire_session(connection);
      ASSERT_TRUE(wait_for_state(connection, ConnectionState::connected));
    }
    stop = true;
  }
  std::uint64_t downgrades = 0;
  ASSERT_TRUE(wait_for([&] { return log->open() == 0; })) << log->open();
  const auto acquired = log->acquired();
  for (const LockAcquired& one : acquired) downgrades += one.downgraded ? 1 : 0;
  EXPECT_EQ(acquired.size() - downgrades + log->not_acquired().size(), attempts);
  EXPECT_EQ(acquired.size(), log->released().size() + log->lost().size());
  EXPECT_GT(log->released().size(), 100U);
}

}  // namespace
}  // namespace zkrecipes::testing
