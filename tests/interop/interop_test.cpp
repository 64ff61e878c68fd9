// SPDX-License-Identifier: Apache-2.0
//
// Curator and kazoo in one queue with zkrecipes.
#include <algorithm>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/interop/fleet.h"
#include "tests/support/fixture.h"
#include "tests/support/plain_client.h"
#include "tests/support/test_server.h"
#include "zkrecipes/recursive_read_write_lock.h"

namespace zkrecipes::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kSession{3'000};

/// A server and one worker of each language.
class InteropTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (external_servers()) GTEST_SKIP() << "needs a server that it can control";
    for (const Language language : kLanguages) workers_.push_back(&fleet_->start(language));
    for (WorkerProcess* worker : workers_) Fleet::await_ready(*worker);
  }

  void TearDown() override {
    if (external_servers()) return;
    for (WorkerProcess* worker : workers_) EXPECT_TRUE(fleet_->finish(*worker));
    EXPECT_TRUE(wait_for([this] { return plain().ephemerals_below("/").empty(); }))
        << "left over: " << plain().ephemerals_below("/").front();
  }

  WorkerProcess& worker(Language language) { return *workers_.at(static_cast<std::size_t>(language)); }
  void kill(Language language) { fleet_->kill(worker(language)); }
  /// A new one in the place of one that was killed.
  void replace(Language language) { workers_.at(static_cast<std::size_t>(language)) = &fleet_->start_ready(language); }

  /// Asks, and waits until the node is in the queue, so that the order of calls is the order of arrival.
  void join(WorkerProcess& who, const std::string& kind, const std::string& path, const std::string& id) {
    const std::size_t before = plain().children(path).size();
    who.send("acquire " + kind + " " + path + " " + id);
    ASSERT_TRUE(wait_for([&] { return plain().children(path).size() == before + 1; })) << id << " does not queue";
  }
  /// Waits for the grant; returns token and node.
  static std::pair<long, std::string> granted(WorkerProcess& who, const std::string& id) {
    std::istringstream in(who.expect("granted " + id + " "));
    std::string word;
    long token = 0;
    std::string node;
    in >> word >> word >> token >> node;
    return {token, node};
  }
  static void release(WorkerProcess& who, const std::string& id) {
    who.send("release " + id);
    who.expect("released " + id);
  }

  PlainClient& plain() {
    if (!plain_) plain_ = std::make_unique<PlainClient>(server_->address());
    return *plain_;
  }

  std::unique_ptr<TestServer> server_ = std::make_unique<TestServer>();
  std::unique_ptr<Fleet> fleet_ = std::make_unique<Fleet>(server_->address(), kSession);
  std::unique_ptr<PlainClient> plain_;
  std::vector<WorkerProcess*> workers_;
};

TEST_F(InteropTest, ThreeLanguages_AreServedInOrderOfArrival) {
  // Each language stands behind each other once.
  const std::vector<Language> arrivals{Language::java, Language::cpp,  Language::python,
                                       Language::cpp,  Language::java, Language::python,
                                       Language::java, Language::cpp,  Language::cpp};
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    ids.push_back("turn" + std::to_string(i));
    join(worker(arrivals[i]), "exclusive", "/turns", ids[i]);
  }
  std::vector<std::string> queue = plain().children("/turns");
  std::sort(queue.begin(), queue.end(), [](const std::string& a, const std::string& b) {
    constexpr std::size_t kDigits = 10;
    return a.substr(a.size() - kDigits) < b.substr(b.size() - kDigits);
  });
  ASSERT_EQ(queue.size(), arrivals.size());
  long last_token = 0;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const auto [token, node] = granted(worker(arrivals[i]), ids[i]);
    EXPECT_EQ(node, "/turns/" + queue[i]);
    EXPECT_GT(token, last_token);
    last_token = token;
    for (std::size_t later = i + 1; later < arrivals.size(); ++later)
      EXPECT_FALSE(worker(arrivals[later]).has_said("granted " + ids[later])) << later << " beside " << i;
    release(worker(arrivals[i]), ids[i]);
  }
}

TEST_F(InteropTest, AKilledHolderOfEachLanguage_FreesTheOthers) {
  for (const Language victim : kLanguages) {
    const std::string path = std::string("/killed_") + to_string(victim);
    join(worker(victim), "exclusive", path, "victim");
    granted(worker(victim), "victim");
    std::vector<Language> others;
    for (const Language language : kLanguages)
      if (language != victim) others.push_back(language);
    for (const Language other : others) join(worker(other), "exclusive", path, "other");
    kill(victim);
    for (const Language other : others) {
      granted(worker(other), "other");
      release(worker(other), "other");
    }
    replace(victim);
  }
}

TEST_F(InteropTest, AKilledWaiterOfEachLanguage_KeepsTheOneBehindItWaiting) {
  for (const Language victim : kLanguages) {
    const std::string path = std::string("/waiter_") + to_string(victim);
    const Language holder = victim == Language::cpp ? Language::java : Language::cpp;
    const Language behind = victim == Language::python ? Language::java : Language::python;
    join(worker(holder), "exclusive", path, "holder");
    granted(worker(holder), "holder");
    join(worker(victim), "exclusive", path, "victim");
    join(worker(behind), "exclusive", path, "behind");
    kill(victim);
    ASSERT_TRUE(wait_for([&] { return plain().children(path).size() == 2; }));
    EXPECT_FALSE(worker(behind).has_said("granted behind"));
    release(worker(holder), "holder");
    granted(worker(behind), "behind");
    release(worker(behind), "behind");
    replace(victim);
  }
}

TEST_F(InteropTest, OtherKindsOnOnePath_CuratorDoesNotWaitForThemAndWeDo) {
  using Kinds = std::pair<const char*, const char*>;
  for (const auto& [first, second] : {Kinds("exclusive", "read"), Kinds("exclusive", "write"),
                                      Kinds("read", "exclusive"), Kinds("write", "exclusive")}) {
    for (const Language ahead : {Language::cpp, Language::java}) {
      const Language behind = ahead == Language::cpp ? Language::java : Language::cpp;
      const std::string path = std::string("/kinds_") + to_string(ahead) + "_" + first + "_" + second;
      join(worker(ahead), first, path, path + "_first");
      granted(worker(ahead), path + "_first");
      join(worker(behind), second, path, path + "_second");
      if (behind == Language::java) {
        granted(worker(behind), path + "_second");  // beside the first, which docs/znode_layout.md warns of
        release(worker(ahead), path + "_first");
      } else {
        EXPECT_FALSE(worker(behind).has_said("granted " + path + "_second"));
        release(worker(ahead), path + "_first");
        granted(worker(behind), path + "_second");
      }
      release(worker(behind), path + "_second");
    }
  }
}

TEST_F(InteropTest, ServerRestart_KeepsTheQueue) {
  join(worker(Language::java), "exclusive", "/restart", "first");
  granted(worker(Language::java), "first");
  join(worker(Language::cpp), "exclusive", "/restart", "second");
  join(worker(Language::python), "exclusive", "/restart", "third");
  plain_.reset();
  server_->restart();
  release(worker(Language::java), "first");
  granted(worker(Language::cpp), "second");
  EXPECT_FALSE(worker(Language::python).has_said("granted third"));
  release(worker(Language::cpp), "second");
  granted(worker(Language::python), "third");
  release(worker(Language::python), "third");
}

TEST_F(InteropTest, Revocation_WorksBothWays) {
  const std::vector<std::pair<Language, Language>> directions{{Language::java, Language::cpp},
                                                              {Language::cpp, Language::java}};
  for (const auto& [asker, holder] : directions) {
    const std::string path = std::string("/revoked_") + to_string(holder);
    join(worker(holder), "exclusive", path, "holder");
    const std::string node = granted(worker(holder), "holder").second;
    worker(asker).send("revoke " + node);
    worker(asker).expect("revoke-sent");
    worker(holder).expect("revoke-asked holder");
    release(worker(holder), "holder");
  }
}

TEST_F(InteropTest, Downgrade_KeepsTheOthersWriterOut) {
  const std::vector<std::pair<Language, Language>> directions{{Language::java, Language::cpp},
                                                              {Language::cpp, Language::java}};
  for (const auto& [downgrader, writer] : directions) {
    const std::string path = std::string("/downgraded_by_") + to_string(downgrader);
    SCOPED_TRACE(path);
    join(worker(downgrader), "write", path, "first");
    granted(worker(downgrader), "first");
    join(worker(writer), "write", path, "writer");
    worker(downgrader).send("downgrade first");
    worker(downgrader).expect("downgraded first");
    // The writer has been woken by the end of the write node when it watches the read node in its place.
    const auto read_node_is_watched = [&] {
      for (const auto& child : plain().children(path))
        if (child.find("__READ__") != std::string::npos) return plain().children(path).size() == 2;
      return false;
    };
    ASSERT_TRUE(wait_for(read_node_is_watched));
    ASSERT_TRUE(wait_for([&] { return server_->info().watches > 0; }));
    EXPECT_FALSE(worker(writer).has_said("granted writer"));
    // A reader of ours behind the waiting writer waits as well; the first one releases and everybody gets in.
    join(worker(writer), "read", path, "reader");
    EXPECT_FALSE(worker(writer).has_said("granted"));
    release(worker(downgrader), "first");
    granted(worker(writer), "writer");
    EXPECT_FALSE(worker(writer).has_said("granted reader"));
    release(worker(writer), "writer");
    granted(worker(writer), "reader");
    release(worker(writer), "reader");
  }
}

TEST_F(InteropTest, ARecursiveLockThatReadsOn_KeepsCuratorsWriterOut) {
  WorkerProcess& curator = worker(Language::java);
  const std::string path = "/reads_on";
  Connection connection(server_->address());
  RecursiveReadWriteLock lock(connection, path);
  lock.lock();
  lock.lock_shared();
  join(curator, "write", path, "writer");
  lock.unlock();
  ASSERT_TRUE(wait_for([&] { return lock.node_shared().find("__READ__") != std::string::npos; }));
  ASSERT_TRUE(wait_for([&] { return plain().children(path).size() == 2; })) << "the read node and the writer's";
  ASSERT_TRUE(wait_for([&] { return server_->info().watches > 0; }));
  EXPECT_FALSE(curator.has_said("granted writer"));
  EXPECT_TRUE(lock.is_held_shared());
  lock.lock_shared();  // although Curator's writer waits
  lock.unlock_shared();
  lock.unlock_shared();
  granted(curator, "writer");
  EXPECT_FALSE(lock.try_lock_shared());
  release(curator, "writer");
  lock.lock_shared();
  EXPECT_TRUE(lock.is_held_shared());
  lock.unlock_shared();
}

/// Loops in all workers given until the condition holds, then the verdict on their history.
class InteropLoopTest : public InteropTest {
 protected:
  struct Looper {
    Language language;
    std::string kind;
    int most = 1;  ///< permits at once
  };

  Verdict run(const std::vector<Looper>& loopers, const std::string& path, LockModel model, int permits, long grants) {
    std::vector<WorkerProcess*> running;
    for (const Looper& looper : loopers) {
      WorkerProcess& process = fleet_->start_ready(looper.language);
      process.send("loop " + looper.kind + " " + path + " " + std::to_string(permits) + " " +
                   std::to_string(looper.most));
      running.push_back(&process);
    }
    EXPECT_TRUE(wait_for([&] { return check_history(fleet_->history(), model, permits).grants >= grants; }));
    for (WorkerProcess* process : running) process->send("stop");
    for (WorkerProcess* process : running) {
      process->expect("stopped");
      EXPECT_TRUE(fleet_->finish(*process));
    }
    return check_history(fleet_->history(), model, permits);
  }
};

TEST_F(InteropLoopTest, ReadWriteLock_IsSharedWithCurator) {
  const Verdict verdict =
      run({{Language::cpp, "read"}, {Language::cpp, "write"}, {Language::java, "read"}, {Language::java, "write"}},
          "/shared_rw", LockModel::read_write, 1, 500);
  EXPECT_TRUE(verdict.accepted()) << verdict;
}

TEST_F(InteropLoopTest, Semaphore_IsSharedWithCurator) {
  const Verdict verdict = run(
      {{Language::cpp, "permit"}, {Language::cpp, "permit"}, {Language::java, "permit"}, {Language::java, "permit"}},
      "/shared_semaphore", LockModel::semaphore, 2, 300);
  EXPECT_TRUE(verdict.accepted()) << verdict;
}

TEST_F(InteropLoopTest, SeveralPermitsAtOnce_AreSharedWithCurator) {
  // Curator keeps what it has while it waits for more: two callers that want two can keep one each. Three are left.
  constexpr int kPermits = 5;
  const Verdict verdict = run({{Language::cpp, "permit", 3},
                               {Language::cpp, "permit", 3},
                               {Language::java, "permit", 2},
                               {Language::java, "permit", 2}},
                              "/shared_permits", LockModel::semaphore, kPermits, 600);
  EXPECT_TRUE(verdict.accepted()) << verdict;
  EXPECT_EQ(verdict.failures, 0) << "somebody has waited for 20 s";
  EXPECT_LT(longest_wait(fleet_->history(), 0, history_time()), std::chrono::nanoseconds(seconds(20)).count());
}

TEST_F(InteropLoopTest, Mutex_IsSharedByThreeLanguagesFirstComeFirstServed) {
  const Verdict verdict =
      run({{Language::cpp, "exclusive"}, {Language::java, "exclusive"}, {Language::python, "exclusive"}},
          "/shared_mutex", LockModel::retained_mutex, 1, 500);
  EXPECT_TRUE(verdict.accepted()) << verdict;
}

}  // namespace
}  // namespace zkrecipes::testing
