// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_server.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
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

/// A write that is begun and whose answer may not come.
class BegunCreate {
 public:
  BegunCreate(Client& client, const std::string& path) {
    zoo_acreate(client.get(), path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, &BegunCreate::done, &answer_);
  }
  bool answered() const { return answer_ != kNone; }
  int answer() const { return answer_; }

 private:
  static constexpr int kNone = 1;
  static void done(int result, const char*, const void* context) {
    *static_cast<std::atomic<int>*>(const_cast<void*>(context)) = result;
  }
  std::atomic<int> answer_{kNone};
};

/// The answers to one client keep their order, so a member that does not commit needs one client that reads and another
/// one that writes.
class LinksTest : public TestServerTest {
 protected:
  void SetUp() override {
    TestServerTest::SetUp();
    if (IsSkipped()) return;
    ServerOptions options;
    options.controlled_links = true;
    // A member that hears nothing goes on for 6 s; these tests do much less meanwhile.
    options.sync_limit = 30;
    ensemble_ = std::make_unique<TestEnsemble>(3, options);
    leader_ = ensemble().leader();
    follower_ = (leader_ + 1) % 3;
    other_ = (leader_ + 2) % 3;
  }
  TestEnsemble& ensemble() const { return *ensemble_; }

  int leader_ = 0;
  int follower_ = 0;
  int other_ = 0;

 private:
  std::unique_ptr<TestEnsemble> ensemble_;
};

TEST_F(LinksTest, SilentlyIsolatedFollowerAnswersReadsButCommitsNothing) {
  Client reader(ensemble().address(follower_), 30s);
  Client writer(ensemble().address(follower_), 30s);
  Client majority(ensemble().address(other_), 30s);
  ASSERT_TRUE(reader.connect() && writer.connect() && majority.connect());
  ASSERT_EQ(reader.create("/before"), ZOK);
  ensemble().isolate_silently(follower_);
  BegunCreate held_back(writer, "/held-back");
  EXPECT_EQ(majority.create("/of-majority"), ZOK);
  EXPECT_EQ(majority.exists("/held-back"), ZNONODE);
  EXPECT_EQ(reader.exists("/before"), ZOK);
  EXPECT_EQ(reader.exists("/of-majority"), ZNONODE);
  EXPECT_FALSE(held_back.answered());
  ensemble().heal();
  EXPECT_EQ(ensemble().leader(), leader_);
  EXPECT_TRUE(eventually([&] { return held_back.answered(); }));
  EXPECT_EQ(held_back.answer(), ZOK);
  EXPECT_TRUE(eventually([&] { return reader.exists("/of-majority") == ZOK; }));
}

TEST_F(LinksTest, FollowerThatIsCutOffStopsServingUntilHealed) {
  Client of_follower(ensemble().address(follower_), 30s);
  Client majority(ensemble().address(leader_), 30s);
  ASSERT_TRUE(of_follower.connect() && majority.connect());
  ensemble().isolate(follower_);
  EXPECT_TRUE(of_follower.wait_for_state(ZOO_CONNECTING_STATE));
  EXPECT_EQ(majority.create("/of-majority"), ZOK);
  EXPECT_EQ(ensemble().info().running, 2);
  ensemble().heal();
  EXPECT_EQ(ensemble().info().running, 3);
  EXPECT_EQ(ensemble().leader(), leader_);
  ASSERT_TRUE(of_follower.connect());
  EXPECT_EQ(of_follower.exists("/of-majority"), ZOK);
}

TEST_F(LinksTest, LeaderThatIsCutOffIsReplacedAndFollowsOnceHealed) {
  ensemble().isolate(leader_);
  const int successor = ensemble().leader_after(leader_);
  Client majority(ensemble().address(successor), 30s);
  ASSERT_TRUE(majority.connect());
  EXPECT_EQ(majority.create("/of-majority"), ZOK);
  EXPECT_TRUE(eventually([&] { return ensemble().info(leader_).running == 0; }));
  ensemble().heal();
  EXPECT_EQ(ensemble().info().running, 3);
  EXPECT_EQ(ensemble().leader(), successor);
  Client of_former(ensemble().address(leader_), 30s);
  ASSERT_TRUE(of_former.connect());
  EXPECT_EQ(of_former.exists("/of-majority"), ZOK);
}

TEST_F(LinksTest, SilentlyIsolatedLeaderAnswersReadsButCommitsNothing) {
  Client reader(ensemble().address(leader_), 30s);
  Client writer(ensemble().address(leader_), 30s);
  ASSERT_TRUE(reader.connect() && writer.connect());
  ensemble().isolate_silently(leader_);
  BegunCreate held_back(writer, "/held-back");
  EXPECT_EQ(reader.exists("/held-back"), ZNONODE);
  const int successor = ensemble().leader_after(leader_);
  Client majority(ensemble().address(successor), 30s);
  ASSERT_TRUE(majority.connect());
  EXPECT_EQ(majority.create("/of-majority"), ZOK);
  EXPECT_FALSE(held_back.answered() && held_back.answer() == ZOK);
  ensemble().heal();
  EXPECT_EQ(ensemble().leader(), successor);
  EXPECT_EQ(ensemble().info().running, 3);
  EXPECT_EQ(majority.exists("/held-back"), ZNONODE);
  ASSERT_TRUE(reader.connect());
  EXPECT_TRUE(eventually([&] { return reader.exists("/of-majority") == ZOK; }));
}

TEST_F(LinksTest, LeaderIsolatedUnnoticedServesBesideTheNextOne) {
  Client reader(ensemble().address(leader_), 30s);
  ASSERT_TRUE(reader.connect());
  const auto start = std::chrono::steady_clock::now();
  ensemble().isolate_unnoticed(leader_);
  const int successor = ensemble().leader_after(leader_);
  Client majority(ensemble().address(successor), 30s);
  ASSERT_TRUE(majority.connect());
  EXPECT_EQ(majority.create("/of-majority"), ZOK);
  const int stale = reader.exists("/of-majority");
  // A machine that is too busy may need longer for all this than the former leader goes on.
  const bool in_time = std::chrono::steady_clock::now() - start < 4s;
  EXPECT_TRUE(stale == ZNONODE || !in_time) << stale;
  ensemble().heal();
  EXPECT_EQ(ensemble().leader(), successor);
  EXPECT_EQ(ensemble().info().running, 3);
  EXPECT_TRUE(eventually([&] { return reader.exists("/of-majority") == ZOK; }));
}

TEST_F(LinksTest, DelayedLinkMakesAFollowerLag) {
  Client of_leader(ensemble().address(leader_), 30s);
  Client of_follower(ensemble().address(follower_), 30s);
  Client of_other(ensemble().address(other_), 30s);
  ASSERT_TRUE(of_leader.connect() && of_follower.connect() && of_other.connect());
  constexpr auto kLag = 1500ms;
  ensemble().delay_link(leader_, follower_, kLag);
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(of_leader.create("/late"), ZOK);
  EXPECT_TRUE(eventually([&] { return of_other.exists("/late") == ZOK; }));
  EXPECT_TRUE(eventually([&] { return of_follower.exists("/late") == ZOK; }));
  EXPECT_GE(std::chrono::steady_clock::now() - start, kLag);
  EXPECT_EQ(ensemble().info().running, 3);

  ASSERT_EQ(of_leader.create("/at-once"), ZOK);
  ensemble().heal();
  EXPECT_TRUE(eventually([&] { return of_follower.exists("/at-once") == ZOK; }));
}

TEST_F(LinksTest, OneLinkIsCutAndHealedByItself) {
  Client client(ensemble().address(other_), 30s);
  ASSERT_TRUE(client.connect());
  ensemble().cut_link(leader_, follower_);
  EXPECT_EQ(client.create("/without-follower"), ZOK);
  EXPECT_TRUE(eventually([&] { return ensemble().info(follower_).running == 0; }));
  EXPECT_EQ(ensemble().leader(), leader_);
  ensemble().heal_link(leader_, follower_);
  EXPECT_TRUE(eventually([&] { return ensemble().info(follower_).running == 1; }));
  EXPECT_EQ(ensemble().leader(), leader_);
}

TEST_F(LinksTest, IsolatedMemberThatRestartsServesOnceHealed) {
  for (int member = 0; member < 3; ++member) ensemble().restart(member);
  const int isolated = ensemble().leader();
  ensemble().isolate(isolated);
  ensemble().restart(isolated);
  EXPECT_NE(ensemble().leader_after(isolated), isolated);
  EXPECT_EQ(ensemble().info(isolated).running, 0);
  ensemble().heal();
  EXPECT_EQ(ensemble().info().running, 3);
}

TEST_F(LinksTest, ExpiryDoesNotWaitForAFollowerThatIsCutOff) {
  Client expired(ensemble().address(follower_), 30s);
  Client majority(ensemble().address(other_), 30s);
  ASSERT_TRUE(expired.connect() && majority.connect());
  ASSERT_EQ(expired.create("/mine", ZOO_EPHEMERAL), ZOK);
  ensemble().isolate_silently(follower_);
  ensemble().expire_session(expired.session());
  EXPECT_EQ(majority.exists("/mine"), ZNONODE);
  EXPECT_EQ(expired.exists("/mine"), ZOK);
  ensemble().heal();
  EXPECT_TRUE(expired.wait_for_state(ZOO_EXPIRED_SESSION_STATE));
}

TEST_F(TestEnsembleTest, LinksAreControlledOnRequestOnly) {
  TestEnsemble ensemble;
  EXPECT_THROW(ensemble.isolate(0), std::runtime_error);
  EXPECT_EQ(ensemble.info().running, 3);
}

TEST_F(TestEnsembleTest, EachMemberHasItsOwnLargestSessionTimeout) {
  ServerOptions options;
  options.max_session_timeouts = {10s, 4s, 6s};
  TestEnsemble ensemble(3, options);
  for (int member = 0; member < 3; ++member) {
    Client client(ensemble.address(member), 20s);
    ASSERT_TRUE(client.connect());
    EXPECT_EQ(std::chrono::milliseconds(zoo_recv_timeout(client.get())),
              options.max_session_timeouts[static_cast<std::size_t>(member)]);
  }
}

/// Each member in a process of its own.
class MemberProcessTest : public TestServerTest {
 protected:
  void SetUp() override {
    TestServerTest::SetUp();
    if (IsSkipped()) return;
    ServerOptions options;
    options.process_per_member = true;
    options.sync_limit = 10;
    ensemble_ = std::make_unique<TestEnsemble>(3, options);
  }
  TestEnsemble& ensemble() const { return *ensemble_; }

 private:
  std::unique_ptr<TestEnsemble> ensemble_;
};

TEST_F(MemberProcessTest, PausedLeaderIsReplacedAndFollowsOnceItWakes) {
  const int paused = ensemble().leader();
  Client of_paused(ensemble().address(paused), 30s);
  ASSERT_TRUE(of_paused.connect());
  ensemble().pause_member(paused);
  const int successor = ensemble().leader_after(paused);
  EXPECT_EQ(ensemble().info().running, 2);
  Client majority(ensemble().address(successor), 30s);
  ASSERT_TRUE(majority.connect());
  EXPECT_EQ(majority.create("/meanwhile"), ZOK);
  ensemble().resume_member(paused);
  ensemble().heal();
  EXPECT_EQ(ensemble().info().running, 3);
  EXPECT_EQ(ensemble().leader(), successor);
  ASSERT_TRUE(of_paused.connect());
  EXPECT_TRUE(eventually([&] { return of_paused.exists("/meanwhile") == ZOK; }));
}

TEST_F(MemberProcessTest, KilledMemberComesBackWithItsData) {
  Client client(ensemble().addresses(), 30s);
  ASSERT_TRUE(client.connect());
  ASSERT_EQ(client.create("/kept"), ZOK);
  const int killed = ensemble().kill_leader();
  EXPECT_NE(ensemble().leader_after(killed), killed);
  ensemble().restart(killed);
  EXPECT_EQ(ensemble().info().running, 3);
  ensemble().stop(killed);
  EXPECT_EQ(ensemble().info().running, 2);
  ensemble().restart_all();
  Client of_killed(ensemble().address(killed), 30s);
  ASSERT_TRUE(of_killed.connect());
  EXPECT_EQ(of_killed.exists("/kept"), ZOK);
}

TEST_F(MemberProcessTest, LinksCanBeCut) {
  const int leader = ensemble().leader();
  Client client(ensemble().address(leader), 30s);
  ASSERT_TRUE(client.connect());
  ensemble().isolate(leader);
  const int successor = ensemble().leader_after(leader);
  EXPECT_TRUE(eventually([&] { return ensemble().info(leader).running == 0; }));
  ensemble().heal();
  EXPECT_EQ(ensemble().leader(), successor);
  EXPECT_EQ(ensemble().info().running, 3);
  ensemble().expire_session(client.session());
  EXPECT_TRUE(client.wait_for_state(ZOO_EXPIRED_SESSION_STATE));
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
