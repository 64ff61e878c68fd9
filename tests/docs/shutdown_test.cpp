// SPDX-License-Identifier: Apache-2.0
// The code of docs/shutdown.md, run.
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

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
