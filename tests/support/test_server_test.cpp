// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_server.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <poll.h>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kLimit{20};

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kLimit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

/// A plain C client that knows its state.
class Client {
 public:
  explicit Client(const std::string& servers, std::chrono::milliseconds session_timeout = 10s)
      : handle_(open(servers, static_cast<int>(session_timeout.count()))) {}
  ~Client() { zookeeper_close(handle_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  zhandle_t* get() const { return handle_; }
  std::int64_t session() const { return zoo_client_id(handle_)->client_id; }

  bool wait_for_state(int state) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kLimit, [&] { return state_ == state; });
  }
  bool connect() { return wait_for_state(ZOO_CONNECTED_STATE); }

  int create(const std::string& path, int mode = ZOO_PERSISTENT, const std::string& data = {}) {
    return zoo_create(handle_, path.c_str(), data.data(), static_cast<int>(data.size()), &ZOO_OPEN_ACL_UNSAFE, mode,
                      nullptr, 0);
  }
  int exists(const std::string& path, int watch = 0) { return zoo_exists(handle_, path.c_str(), watch, nullptr); }
  int remove(const std::string& path) { return zoo_delete(handle_, path.c_str(), -1); }

 private:
  zhandle_t* open(const std::string& servers, int session_timeout_ms) {
    zoo_set_debug_level(static_cast<ZooLogLevel>(0));  // lost connections are what these tests are about
    return zookeeper_init(servers.c_str(), &Client::watch, session_timeout_ms, nullptr, this, 0);
  }
  static void watch(zhandle_t*, int type, int state, const char*, void* context) {
    auto* self = static_cast<Client*>(context);
    if (type != ZOO_SESSION_EVENT) return;
    std::lock_guard<std::mutex> lock(self->mutex_);
    self->state_ = state;
    self->changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int state_ = 0;            // guarded by mutex_
  zhandle_t* const handle_;  // last: its threads use the rest
};

std::string output_of(const std::string& command, int* exit_status) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  char buffer[512];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) output += buffer;
  *exit_status = WEXITSTATUS(pclose(pipe));
  return output;
}

class TestServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (external_servers()) GTEST_SKIP() << "needs servers that it can control";
  }
};
using TestEnsembleTest = TestServerTest;
using TestServerProcessTest = TestServerTest;

TEST_F(TestServerTest, RestartKeepsDataAndPort) {
  TestServer server;
  const std::string address = server.address();
  Client client(server.address());
  ASSERT_TRUE(client.connect());
  ASSERT_EQ(client.create("/kept"), ZOK);
  server.stop();
  EXPECT_TRUE(client.wait_for_state(ZOO_CONNECTING_STATE));
  EXPECT_EQ(server.info().running, 0);
  server.restart();
  EXPECT_EQ(server.address(), address);
  ASSERT_TRUE(client.connect());
  EXPECT_EQ(client.exists("/kept"), ZOK);
}

TEST_F(TestServerTest, KilledServerComesBackWithItsSessions) {
  TestServer server;
  Client client(server.address());
  ASSERT_TRUE(client.connect());
  const std::int64_t session = client.session();
  ASSERT_EQ(client.create("/mine", ZOO_EPHEMERAL), ZOK);
  server.kill();
  EXPECT_TRUE(client.wait_for_state(ZOO_CONNECTING_STATE));
  server.restart();
  ASSERT_TRUE(client.connect());
  EXPECT_EQ(client.session(), session);
  EXPECT_EQ(client.exists("/mine"), ZOK);
}

TEST_F(TestServerTest, ExpiredSessionLosesItsEphemeralNodeAtOnce) {
  TestServer server;
  Client expired(server.address());
  Client observer(server.address());
  ASSERT_TRUE(expired.connect());
  ASSERT_TRUE(observer.connect());
  ASSERT_EQ(expired.create("/ephemeral", ZOO_EPHEMERAL), ZOK);
  server.expire_session(expired.session());
  EXPECT_EQ(observer.exists("/ephemeral"), ZNONODE);
  EXPECT_EQ(server.info().sessions, 1);
  EXPECT_TRUE(expired.wait_for_state(ZOO_EXPIRED_SESSION_STATE));
  EXPECT_EQ(zoo_state(observer.get()), ZOO_CONNECTED_STATE);
}

TEST_F(TestServerTest, ExpiringAnUnknownSessionIsAnError) {
  TestServer server;
  EXPECT_THROW(server.expire_session(42), std::runtime_error);
}

TEST_F(TestServerTest, InfoCountsWatchesConnectionsSessionsAndNodes) {
  TestServer server;
  const ServerInfo before = server.info();
  {
    Client client(server.address());
    ASSERT_TRUE(client.connect());
    ASSERT_EQ(client.create("/node", ZOO_EPHEMERAL), ZOK);
    ASSERT_EQ(client.exists("/node", 1), ZOK);
    const ServerInfo during = server.info();
    EXPECT_EQ(during.running, 1);
    EXPECT_EQ(during.watches, before.watches + 1);
    EXPECT_EQ(during.connections, 1);
    EXPECT_EQ(during.sessions, 1);
    EXPECT_EQ(during.nodes, before.nodes + 1);
    EXPECT_EQ(during.ephemerals, 1);
    // A packet is counted after it was sent, perhaps after its reader has gone on.
    EXPECT_TRUE(eventually([&] {
      const ServerInfo now = server.info();
      return now.packets_received >= before.packets_received + 3 && now.packets_sent >= before.packets_sent + 3;
    }));
  }
  EXPECT_TRUE(eventually([&] {
    const ServerInfo after = server.info();
    return after.watches == before.watches && after.connections == 0 && after.sessions == 0 && after.outstanding == 0;
  }));
}

TEST_F(TestServerTest, SessionTimeoutsFollowTheOptions) {
  ServerOptions options;
  options.tick_time = 100ms;
  options.min_session_timeout = 300ms;
  options.max_session_timeout = 5s;
  TestServer server(options);
  Client shortest(server.address(), 100ms);
  Client longest(server.address(), 60s);
  ASSERT_TRUE(shortest.connect());
  ASSERT_TRUE(longest.connect());
  EXPECT_EQ(zoo_recv_timeout(shortest.get()), 300);
  EXPECT_EQ(zoo_recv_timeout(longest.get()), 5000);
}

TEST_F(TestServerTest, EmptyContainerIsRemovedAfterTheCheckInterval) {
  ServerOptions options;
  options.container_check_interval = 50ms;
  TestServer server(options);
  Client client(server.address());
  ASSERT_TRUE(client.connect());
  ASSERT_EQ(client.create("/container", ZOO_CONTAINER), ZOK);
  ASSERT_EQ(client.create("/container/child"), ZOK);
  ASSERT_EQ(client.remove("/container/child"), ZOK);
  EXPECT_TRUE(eventually([&] { return client.exists("/container") == ZNONODE; }));
}

TEST_F(TestServerTest, SecondServerIsIndependent) {
  TestServer first;
  TestServer second;
  ASSERT_NE(first.address(), second.address());
  Client client(second.address());
  ASSERT_TRUE(client.connect());
  ASSERT_EQ(client.create("/only-in-second"), ZOK);
  first.kill();
  EXPECT_EQ(client.exists("/only-in-second"), ZOK);
  first.restart();
  Client other(first.address());
  ASSERT_TRUE(other.connect());
  EXPECT_EQ(other.exists("/only-in-second"), ZNONODE);
}

TEST_F(TestServerTest, LargestPacketFollowsTheOption) {
  ServerOptions options;
  options.jute_max_buffer = 4 << 20;
  TestServer server(options);
  Client client(server.address());
  ASSERT_TRUE(client.connect());
  EXPECT_EQ(client.create("/large", ZOO_PERSISTENT, std::string(2 << 20, 'x')), ZOK);
}

TEST_F(TestEnsembleTest, AnotherMemberLeadsAfterTheLeaderIsKilled) {
  TestEnsemble ensemble;
  Client client(ensemble.addresses());
  ASSERT_TRUE(client.connect());
  ASSERT_EQ(client.create("/replicated"), ZOK);
  const int killed = ensemble.kill_leader();
  const int successor = ensemble.leader();
  EXPECT_NE(successor, killed);
  Client of_successor(ensemble.address(successor));
  ASSERT_TRUE(of_successor.connect());
  EXPECT_EQ(of_successor.exists("/replicated"), ZOK);
  ensemble.restart(killed);
  EXPECT_EQ(ensemble.info().running, 3);
  Client of_killed(ensemble.address(killed));
  ASSERT_TRUE(of_killed.connect());
  EXPECT_EQ(of_killed.exists("/replicated"), ZOK);
}

TEST_F(TestEnsembleTest, SessionOfAFollowerExpiresEverywhere) {
  TestEnsemble ensemble;
  const int follower = (ensemble.leader() + 1) % ensemble.size();
  Client expired(ensemble.address(follower));
  ASSERT_TRUE(expired.connect());
  ASSERT_EQ(expired.create("/ephemeral", ZOO_EPHEMERAL), ZOK);
  EXPECT_EQ(ensemble.info(follower).connections, 1);
  ensemble.expire_session(expired.session());
  for (int member = 0; member < ensemble.size(); ++member) {
    EXPECT_EQ(ensemble.info(member).ephemerals, 0);
    EXPECT_EQ(ensemble.info(member).sessions, 0);
  }
  EXPECT_TRUE(expired.wait_for_state(ZOO_EXPIRED_SESSION_STATE));
}

TEST_F(TestEnsembleTest, MinorityDoesNotServeUntilAnotherMemberReturns) {
  TestEnsemble ensemble;
  Client client(ensemble.addresses());
  ASSERT_TRUE(client.connect());
  ASSERT_EQ(client.create("/before"), ZOK);
  ensemble.stop(0);
  ensemble.stop(1);
  EXPECT_TRUE(client.wait_for_state(ZOO_CONNECTING_STATE));
  EXPECT_THROW(ensemble.leader(), std::runtime_error);
  ensemble.restart(0);
  EXPECT_GE(ensemble.leader(), 0);
  ASSERT_TRUE(client.connect());
  EXPECT_EQ(client.exists("/before"), ZOK);
}

TEST_F(TestEnsembleTest, StoppedEnsembleReturnsWithItsData) {
  TestEnsemble ensemble;
  Client client(ensemble.addresses());
  ASSERT_TRUE(client.connect());
  ASSERT_EQ(client.create("/before"), ZOK);
  ensemble.stop_all();
  EXPECT_EQ(ensemble.info().running, 0);
  ensemble.restart_all();
  EXPECT_EQ(ensemble.info().running, 3);
  ASSERT_TRUE(client.connect());
  EXPECT_EQ(client.exists("/before"), ZOK);
}

TEST_F(TestEnsembleTest, EmptyContainerIsRemovedAlsoUnderANewLeader) {
  ServerOptions options;
  options.container_check_interval = 50ms;
  TestEnsemble ensemble(3, options);
  ensemble.kill_leader();
  Client client(ensemble.address(ensemble.leader()));
  ASSERT_TRUE(client.connect());
  ASSERT_EQ(client.create("/container", ZOO_CONTAINER), ZOK);
  ASSERT_EQ(client.create("/container/child"), ZOK);
  ASSERT_EQ(client.remove("/container/child"), ZOK);
  EXPECT_TRUE(eventually([&] { return client.exists("/container") == ZNONODE; }));
}

TEST_F(TestServerProcessTest, PausedServerKeepsConnectionsAndAnswersLater) {
  ServerOptions options;
  options.own_process = true;
  TestServer paused(options);
  TestServer other;
  Client client(paused.address(), 400ms);
  Client undisturbed(other.address());
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
  // Not close-on-exec: the servers inherit the writing end, so the pipe ends when the last of both processes
  // does.
  int lifeline[2];
  ASSERT_EQ(pipe(lifeline), 0);
  const pid_t program = fork();
  ASSERT_NE(program, -1);
  if (program == 0) {
    TestServerProcess process;
    process.command("start");
    process.pause();
    ::kill(getpid(), SIGKILL);
  }
  close(lifeline[1]);
  int status = 0;
  ASSERT_EQ(waitpid(program, &status, 0), program);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the program should have died of its own signal";
  pollfd ended{lifeline[0], POLLIN, 0};
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(kLimit);
  EXPECT_EQ(poll(&ended, 1, static_cast<int>(limit.count())), 1);
  EXPECT_TRUE((ended.revents & POLLHUP) != 0);
  close(lifeline[0]);
}

TEST(TestServerLauncher, ExplainsItself) {
  int exit_status = -1;
  const std::string launcher = test_server_launcher();
  EXPECT_NE(output_of(launcher + " --help", &exit_status).find("--tick-time"), std::string::npos);
  EXPECT_EQ(exit_status, 0);
  EXPECT_NE(output_of(launcher + " --serve --port many 2>&1", &exit_status).find("positive number"), std::string::npos);
  EXPECT_EQ(exit_status, 2);
}

}  // namespace
}  // namespace zkrecipes::testing
