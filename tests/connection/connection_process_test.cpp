// SPDX-License-Identifier: Apache-2.0
// Processes that are stopped, and processes that fork.
#include <atomic>
#include <chrono>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "testkit/child_process.h"
#include "tests/support/fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::Status;
using State = ConnectionState;
using ::testing::HasSubstr;

/// Starts pausable_client. It ends with its input.
class OtherProcess {
 public:
  OtherProcess(const std::string& servers, std::chrono::milliseconds session_timeout)
      : process_({ZKRECIPES_PAUSABLE_CLIENT, servers, std::to_string(session_timeout.count())}) {}

  void pause() { ASSERT_TRUE(process_.pause()) << "the other process has ended"; }
  void resume() { process_.resume(); }
  std::string next_line() { return process_.read_line(kLimit).value_or("the other process has ended"); }

 private:
  testkit::ChildProcess process_;
};

class PausedProcess : public ControlledServerTest {};

TEST_F(PausedProcess, KnowsThatItsLeaseIsOverBeforeAnyEventIsProcessed) {
  plain();
  const auto timeout = 3000ms;
  OtherProcess other(options().servers, timeout);
  ASSERT_EQ(other.next_line(), "ready");
  ASSERT_TRUE(wait_for_children("/lock", 1));
  other.pause();
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
  other.pause();
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
              try {
                connection.set_servers("127.0.0.1");
                return 6;
              } catch (const Error& error) {
                if (error.code() != ErrorCode::forked) return 7;
              }
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
