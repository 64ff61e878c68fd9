// SPDX-License-Identifier: Apache-2.0
// The code of docs/shutdown.md, run.
#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

/// A process that holds the lock at kPath and, when it is told to, ends in the way that `end` names.
class EndingTest : public DocsTest {
 protected:
  std::unique_ptr<testkit::ChildProcess> start_holder(const std::string& end,
                                                      std::chrono::milliseconds session_timeout) {
    auto holder = std::make_unique<testkit::ChildProcess>(std::vector<std::string>{
        ZKRECIPES_ENDING_CLIENT, docs_servers(), kPath, std::to_string(session_timeout.count()), end});
    EXPECT_EQ(holder->read_line(kLimit), "holds");
    return holder;
  }
};

TEST_F(EndingTest, Shutdown_ExitReleasesWhatHasStaticStorage) {
  FairMutex next(connect(), kPath);
  const auto holder = start_holder("exit_static", 20s);
  EXPECT_FALSE(next.try_acquire());
  holder->write("\n");
  EXPECT_EQ(holder->wait(kLimit), 0);
  EXPECT_TRUE(next.try_acquire()) << "its session of 20 s need not time out";
}

TEST_F(EndingTest, Shutdown_ExitLeavesWhatIsOnAStackToTheSessionTimeout) {
  FairMutex next(connect(), kPath);
  const auto holder = start_holder("exit", 20s);
  holder->write("\n");
  EXPECT_EQ(holder->wait(kLimit), 0);
  EXPECT_FALSE(next.try_acquire());
  for (const Contender& each : contenders(connect(), kPath)) expire(each.session);
  EXPECT_TRUE(next.try_acquire());
}

TEST_F(EndingTest, Shutdown_ExecLeavesTheLockToTheSessionTimeout) {
  FairMutex next(connect(), kPath);
  const auto holder = start_holder("exec", 3s);
  holder->write("\n");
  EXPECT_EQ(holder->read_line(kLimit), "another program");
  EXPECT_TRUE(next.try_acquire_for(kLimit)) << "also while the other program has the descriptors of the session";
  EXPECT_FALSE(holder->has_ended());
}

/// How many descriptors a program has that this one starts.
int descriptors_of_a_child() {
  const std::unique_ptr<FILE, int (*)(FILE*)> list(popen("ls /proc/self/fd", "r"), &pclose);
  int lines = 0;
  for (int c = std::fgetc(list.get()); c != EOF; c = std::fgetc(list.get())) lines += c == '\n' ? 1 : 0;
  return lines;
}

TEST_F(DocsTest, Shutdown_AChildProcessInheritsThreeDescriptors) {
  plain();
  const int before = descriptors_of_a_child();
  connect();
  EXPECT_EQ(descriptors_of_a_child() - before, 3);
}

TEST_F(DocsTest, Shutdown_ASignalEndsTheProgramInOrder) {
  FairMutex next(connect(), kPath);
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto program = start("docs/shutdown_1");
    EXPECT_EQ(program->read_line(kLimit), "working");
    EXPECT_FALSE(next.try_acquire());
    kill(program->pid(), signal);
    EXPECT_EQ(program->read_line(kLimit), "ended in order");
    EXPECT_EQ(program->wait(kLimit), 0);
    EXPECT_TRUE(next.try_acquire()) << "its session of 10 s need not time out";
  }
}

TEST_F(DocsTest, Shutdown_ASecondSignalEndsAProgramThatHangs) {
  setenv("ZKRECIPES_DOCS_SERVERS", (proxy().address() + chroot()).c_str(), 1);
  testkit::ChildProcess program({std::string(ZKRECIPES_DOCS_PROGRAMS) + "/docs/shutdown_1"});
  EXPECT_EQ(program.read_line(kLimit), "working");
  proxy().black_hole();  // so its end takes some seconds
  kill(program.pid(), SIGINT);
  EXPECT_EQ(program.read_line(kLimit), "ended in order");
  kill(program.pid(), SIGINT);
  EXPECT_EQ(program.wait(kLimit), 128 + SIGINT);
  for (const Contender& each : contenders(connect(), kPath)) expire(each.session);
}

TEST_F(DocsTest, Shutdown_ASignalEndsAWaitToo) {
  FairMutex other(connect(), kPath);
  const Hold hold = other.acquire();
  const auto program = start("docs/shutdown_1");
  EXPECT_TRUE(wait_for_children(kPath, 2));
  kill(program->pid(), SIGTERM);
  EXPECT_EQ(program->read_line(kLimit), "ended in order");
  EXPECT_EQ(program->wait(kLimit), 0);
  EXPECT_EQ(children(kPath).size(), 1U);
}

TEST_F(DocsTest, Shutdown_WorkersAreStoppedFirst) {
  Connection connection(options());
  FairMutex mutex(connection, kPath);
  StopSource stop;
  std::vector<std::thread> workers;
  std::atomic<int> ended{0};
  for (int n = 0; n < 3; ++n)
    workers.emplace_back([&] {
      while (mutex.acquire(stop.token())) {
      }
      ++ended;
    });
#include <docs/shutdown_2.inc>
  EXPECT_EQ(ended, 3);
}

TEST_F(DocsTest, Shutdown_TheChildOfAForkHoldsNothing) {
  FairMutex mutex(connect(), kPath);
#include <docs/shutdown_3.inc>
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(hold.is_valid());
}

TEST_F(DocsTest, Shutdown_AHoldIsLostByClose) {
  Connection connection(options());
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  std::atomic<int> lost{0};
  const Subscription subscription = hold.on_lost([&] { ++lost; });
  connection.close();
  EXPECT_EQ(lost, 1);
  EXPECT_FALSE(hold.is_valid());
  EXPECT_THROW(static_cast<void>(mutex.acquire()), ConnectionClosed);
}

}  // namespace
}  // namespace zkrecipes::testing
