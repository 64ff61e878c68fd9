// SPDX-License-Identifier: Apache-2.0
#include "testkit/test_server_process.h"

#include <chrono>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "testkit/child_process.h"
#include "tests/support/test_server_fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;

std::string output_of(const std::string& command, int* exit_status) {
  testkit::ChildProcess shell({"sh", "-c", command});
  std::string output;
  while (const auto line = shell.read_line(kServerLimit)) output += *line + "\n";
  *exit_status = shell.wait(kServerLimit);
  return output;
}

TEST_F(TestServerProcessTest, PausedServerKeepsConnectionsAndAnswersLater) {
  ServerOptions options;
  options.own_process = true;
  TestServer paused(options);
  TestServer other;
  CodeClient client(paused.address(), 400ms);
  CodeClient undisturbed(other.address());
  ASSERT_TRUE(client.connect());
  ASSERT_TRUE(undisturbed.connect());
  paused.process().pause();
  EXPECT_THROW(paused.info(), std::logic_error);
  EXPECT_TRUE(client.wait_for_state(ZOO_CONNECTING_STATE));
  EXPECT_EQ(undisturbed.exists("/"), ZOK);
  paused.process().resume();
  EXPECT_EQ(paused.info().running, 1);
}

TEST_F(TestServerProcessTest, EndedProcessIsAnErrorAndNoSignal) {
  TestServerProcess process;
  process.command("ping");
  ::kill(process.pid(), SIGKILL);
  EXPECT_THROW(for (;;) process.command("ping"), std::runtime_error);
  EXPECT_THROW(process.command("ping"), std::runtime_error);
}

TEST_F(TestServerProcessTest, RefusesWhatItDoesNotKnow) {
  TestServerProcess& process = TestServerProcess::instance();
  EXPECT_THROW(process.command("dance"), std::runtime_error);
  EXPECT_THROW(process.command("start servers=many"), std::runtime_error);
  EXPECT_THROW(process.command("stop s0"), std::runtime_error);
  EXPECT_EQ(process.command("ping"), "");
}

TEST_F(TestServerProcessTest, DiesWithTheProgramEvenWhilePaused) {
  int report[2];
  ASSERT_EQ(pipe(report), 0);
  const pid_t program = fork();
  ASSERT_NE(program, -1);
  if (program == 0) {
    TestServerProcess process;
    process.command("start");
    process.pause();
    const pid_t pid = process.pid();
    if (write(report[1], &pid, sizeof pid) != static_cast<ssize_t>(sizeof pid)) _exit(1);
    pause();
  }
  close(report[1]);
  pid_t server = -1;
  ASSERT_EQ(read(report[0], &server, sizeof server), static_cast<ssize_t>(sizeof server));
  close(report[0]);
  // Readable when the process ends, whether or not somebody waits for it.
  const int server_handle = static_cast<int>(syscall(SYS_pidfd_open, server, 0));
  ASSERT_NE(server_handle, -1);
  ::kill(program, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(program, &status, 0), program);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the program should have died of our signal";
  pollfd ended{server_handle, POLLIN, 0};
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(kServerLimit);
  EXPECT_EQ(poll(&ended, 1, static_cast<int>(limit.count())), 1);
  close(server_handle);
}

TEST(TestServerLauncher, ExplainsItself) {
  int exit_status = -1;
  const std::string launcher = testkit::test_server_launcher();
  EXPECT_NE(output_of(launcher + " --help", &exit_status).find("--tick-time"), std::string::npos);
  EXPECT_EQ(exit_status, 0);
  EXPECT_NE(output_of(launcher + " --serve --port many 2>&1", &exit_status).find("positive number"), std::string::npos);
  EXPECT_EQ(exit_status, 2);
}

}  // namespace
}  // namespace zkrecipes::testing
