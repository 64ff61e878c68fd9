// SPDX-License-Identifier: Apache-2.0
// Scenarios 20 and 36 for the connection: processes that are stopped, and processes that fork.
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/support/fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using connection::Status;
using State = ConnectionState;
using ::testing::HasSubstr;

/// pausable_client, and the lines that it says.
class OtherProcess {
 public:
  OtherProcess(const std::string& servers, std::chrono::milliseconds session_timeout) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
    const std::string timeout = std::to_string(session_timeout.count());
    const std::string program = ZKRECIPES_PAUSABLE_CLIENT;
    std::vector<char*> argv;
    for (const std::string* argument : {&program, &servers, &timeout})
      argv.push_back(const_cast<char*>(argument->c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int failed = posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    socket_ = ends[0];
    if (failed != 0) throw std::runtime_error("cannot start " + program);
  }
  ~OtherProcess() {
    kill(pid_, SIGCONT);
    close(socket_);
    waitpid(pid_, nullptr, 0);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  void stop() {
    kill(pid_, SIGSTOP);
    siginfo_t state{};
    waitid(P_PID, static_cast<id_t>(pid_), &state, WSTOPPED | WNOWAIT);
  }
  void resume() { kill(pid_, SIGCONT); }

  std::string next_line() {
    const auto deadline = Clock::now() + kLimit;
    std::size_t end = 0;
    while ((end = received_.find('\n')) == std::string::npos) {
      pollfd readable{socket_, POLLIN, 0};
      if (Clock::now() > deadline) throw std::runtime_error("the other process says nothing");
      if (poll(&readable, 1, 100) <= 0) continue;
      char buffer[256];
      const ssize_t count = read(socket_, buffer, sizeof buffer);
      if (count <= 0) throw std::runtime_error("the other process has ended");
      received_.append(buffer, static_cast<std::size_t>(count));
    }
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return line;
  }

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
  std::string received_;
};

class PausedProcess : public ControlledServerTest {};

// Scenario 36.
TEST_F(PausedProcess, KnowsThatItsLeaseIsOverBeforeAnyEventIsProcessed) {
  plain();
  const auto timeout = 3000ms;
  OtherProcess other(options().servers, timeout);
  ASSERT_EQ(other.next_line(), "ready");
  ASSERT_TRUE(wait_for_children("/lock", 1));
  other.stop();
  ASSERT_TRUE(wait_for_children("/lock", 0)) << "the server expires the session of a stopped process";
  other.resume();
  EXPECT_THAT(other.next_line(), HasSubstr("valid=0"));
}

// Stopped longer than the lease, but (unless the machine is slow) not so long that the server has expired the session.
TEST_F(PausedProcess, KnowsThatItsLeaseIsOverAlsoWhileTheServerStillKeepsTheSession) {
  plain();
  const auto timeout = 3000ms;
  OtherProcess other(options().servers, timeout);
  ASSERT_EQ(other.next_line(), "ready");
  other.stop();
  const auto stopped = Clock::now();
  ASSERT_TRUE(wait_for([&] { return Clock::now() > stopped + timeout * 4 / 5; }));
  other.resume();
  EXPECT_THAT(other.next_line(), HasSubstr("valid=0"));
  EXPECT_TRUE(wait_for_children("/lock", 0)) << "the old session is closed, since its holds are lost";
}

class ForkedProcess : public ControlledServerTest {
 protected:
  /// Runs the checks in a child made by fork() and returns its exit status. Each check that fails gives another number.
  static int in_child(const std::function<int()>& checks) {
    const pid_t child = fork();
    if (child == 0) _exit(checks());
    const auto deadline = Clock::now() + kLimit;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (Clock::now() < deadline) {
        std::this_thread::sleep_for(2ms);
        continue;
      }
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
  }
};

// Scenario 20.
TEST_F(ForkedProcess, ChildIsRefusedAndTheParentUndisturbed) {
  auto owned = std::make_unique<Connection>(options());
  Connection& connection = *owned;
  ASSERT_TRUE(connection.wait_until_connected(kLimit));
  StateLog log(connection);
  const SyncClient client(connection);
  const auto session = client.session();
  const auto node = client.create(queue_node("/lock"));
  EXPECT_EQ(in_child([&] {
              try {
                connection.wait_until_connected(1s);
                return 1;
              } catch (const Error& error) {
                if (error.code() != ErrorCode::forked) return 2;
              }
              try {
                client.client().check_usable();
                return 3;
              } catch (const Error& error) {
                if (error.code() != ErrorCode::forked) return 4;
              }
              if (connection.session_id() != 0) return 5;
              connection.close();
              owned.reset();
              return 0;
            }),
            0);
  EXPECT_EQ(client.sync("/").status, Status::ok);
  EXPECT_EQ(client.session(), session);
  EXPECT_TRUE(node_exists(node.path));
  EXPECT_TRUE(log.states().empty());
  EXPECT_EQ(client.remove(node.path), Status::ok);
}

TEST_F(ForkedProcess, ChildMayMakeAConnectionOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer ends a forked process that starts threads";
#endif
  Connection& parents = connect();
  const std::string servers = options().servers;
  EXPECT_EQ(in_child([&] {
              Connection own(servers);
              return own.wait_until_connected(kLimit) && own.session_id() != 0 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(SyncClient(parents).sync("/").status, Status::ok);
}

// Forks while requests are on their way and mutexes may be held, many times.
TEST_F(ForkedProcess, ChildOfABusyParentDoesNotHang) {
  Connection& connection = connect();
  const SyncClient client(connection);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) client.sync("/");
  });
  for (int n = 0; n < 50; ++n)
    EXPECT_EQ(in_child([&] {
                static_cast<void>(connection.session_id());
                static_cast<void>(connection.state());
                try {
                  connection.wait_until_connected(1s);
                } catch (const Error&) {
                  return 0;
                }
                return 1;
              }),
              0);
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace zkrecipes::testing
