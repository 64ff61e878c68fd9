// SPDX-License-Identifier: Apache-2.0
// Other servers for a connection that lives.
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <zookeeper/zookeeper.h>

#include "tests/connection/fake_names.h"
#include "tests/support/fixture.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::Status;
using State = ConnectionState;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

/// The addresses are those of proxies in front of one server.
class ServersTest : public ControlledServerTest {
 protected:
  void SetUp() override {
    ControlledServerTest::SetUp();
    if (!IsSkipped()) other_ = make_proxy();
  }

  std::unique_ptr<FaultProxy> make_proxy() { return std::make_unique<FaultProxy>(server().address()); }
  FaultProxy& old() { return proxy(); }
  FaultProxy& other() { return *other_; }
  static std::string port_of(const FaultProxy& proxy) { return proxy.address().substr(proxy.address().rfind(':')); }

  /// The session is at `there`, and has left `from`.
  static bool wait_until_moved(const FaultProxy& from, const FaultProxy& there) {
    return there.wait_until_open_connections(1, kLimit) && from.wait_until_open_connections(0, kLimit);
  }

  std::unique_ptr<FaultProxy> other_;
};

TEST_F(ServersTest, SessionMovesToAServerOfTheNewList_WithItsHolds) {
  Connection& connection = connect_by_proxy();
  const std::int64_t session = connection.session_id();
  StateLog log(connection);
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  const FencingToken token = hold.token();
  std::atomic<int> lost{0};
  const Subscription subscription = hold.on_lost([&] { ++lost; });
  connection.set_servers(other().address());
  ASSERT_TRUE(wait_until_moved(old(), other()));
  old().refuse(true);
  EXPECT_EQ(SyncClient(connection).sync("/").status, Status::ok);
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
  EXPECT_EQ(hold.token(), token);
  EXPECT_EQ(lost, 0);
  EXPECT_THAT(log.states(), Not(Contains(State::lost)));
  EXPECT_THAT(children("/lock"), ::testing::SizeIs(1));
}

TEST_F(ServersTest, WaitersAreStillWokenAfterTheMove) {
  Connection& connection = connect_by_proxy();
  FairMutex blocker(connect(), "/lock"), mutex(connection, "/lock");
  Hold blocking = blocker.acquire();
  PendingHold waits = mutex.acquire_async();
  ASSERT_TRUE(wait_for([&] { return load_of(connection).watches == 1; }));
  connection.set_servers(other().address());
  ASSERT_TRUE(wait_until_moved(old(), other()));
  blocking.release();
  EXPECT_TRUE(waits.get().is_valid());
}

TEST_F(ServersTest, ServerThatStaysInTheList_IsKeptUntilItFails) {
  Connection& connection = connect_by_proxy();
  const std::int64_t session = connection.session_id();
  StateLog log(connection);
  connection.set_servers(other().address() + "," + old().address());
  EXPECT_EQ(SyncClient(connection).sync("/").status, Status::ok);
  EXPECT_EQ(other().counts().connections, 0);
  EXPECT_EQ(old().counts().connections, 1);
  EXPECT_THAT(log.states(), IsEmpty());
  old().refuse(true);
  ASSERT_TRUE(log.wait_for({State::suspended, State::connected}));
  EXPECT_EQ(other().open_connections(), 1);
  EXPECT_EQ(connection.session_id(), session);
}

TEST_F(ServersTest, WhileConnecting_TheNewListIsUsedAtOnce) {
  old().never_answer(true);  // an attempt there takes as long as it may
  ConnectionOptions options = options_by_proxy(20s);
  options.session_timeout = 10min;
  options.retry.initial_delay = options.retry.max_delay = 10min;
  Connection& silent = begin_connect(options);
  ASSERT_TRUE(old().wait_until_open_connections(1, kLimit));
  options.servers = "127.0.0.1:1" + chroot();  // refuses, so that a long pause has begun
  Connection& refused = begin_connect(options);
  EXPECT_FALSE(refused.wait_until_connected(100ms));
  for (Connection* connection : {&silent, &refused}) {
    connection->set_servers(other().address());
    EXPECT_TRUE(connection->wait_until_connected(kLimit));
    EXPECT_EQ(SyncClient(*connection).sync("/").status, Status::ok);
  }
}

TEST_F(ServersTest, WhileSuspended_TheSessionIsContinuedAtTheNewServers) {
  Connection& connection = connect_by_proxy();
  const std::int64_t session = connection.session_id();
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  StateLog log(connection);
  old().refuse(true);
  ASSERT_TRUE(log.wait_for(State::suspended));
  connection.set_servers(other().address());
  ASSERT_TRUE(log.wait_for({State::suspended, State::connected}));
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
}

TEST_F(ServersTest, ServersThatDoNotAnswer_LeaveTheSessionWhereItIs) {
  Connection& connection = connect_by_proxy();
  const std::int64_t session = connection.session_id();
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  StateLog log(connection);
  for (int attempt = 0; attempt < 1'000; ++attempt) other().cut_before_request(RequestKind::connect);
  connection.set_servers("127.0.0.1:1," + other().address());
  ASSERT_TRUE(other().wait_until([](const FaultProxy::Counts& counts) { return counts.connections >= 3; }, kLimit));
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_THAT(log.states(), IsEmpty());
  other().clear_faults();
  ASSERT_TRUE(wait_until_moved(old(), other())) << "a later attempt succeeds";
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
}

TEST_F(ServersTest, OldServerThatDropsUsWhileTheNewOnesDoNotAnswer_IsTriedAgain) {
  Connection& connection = connect_by_proxy();
  const std::int64_t session = connection.session_id();
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  StateLog log(connection);
  other().refuse(true);
  connection.set_servers(other().address());
  old().reset();
  ASSERT_TRUE(wait_for([&] { return log.states().size() >= 2 && connection.state() == State::connected; }));
  EXPECT_EQ(SyncClient(connection).sync("/").status, Status::ok);
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
  other().refuse(false);
  ASSERT_TRUE(wait_until_moved(old(), other()));
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
}

TEST_F(ServersTest, ServersThatRefuseTheCredentials_SendTheSessionBack) {
  ConnectionOptions options = options_by_proxy();
  options.credentials = {{"digest", "user:secret"}};
  Connection& connection = connect(options);
  const std::int64_t session = connection.session_id();
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  other().answer_with_error(RequestKind::auth, ZAUTHFAILED, 100);
  connection.set_servers(other().address());
  ASSERT_TRUE(
      other().wait_until([](const FaultProxy::Counts& counts) { return counts.of(RequestKind::auth) >= 1; }, kLimit));
  ASSERT_TRUE(wait_until_moved(other(), old()));
  EXPECT_EQ(SyncClient(connection).sync("/").status, Status::ok);
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
  other().clear_faults();
  connection.set_servers(other().address() + "," + other().address());
  ASSERT_TRUE(wait_until_moved(old(), other())) << "another list is tried at once";
  EXPECT_EQ(connection.session_id(), session);
}

TEST_F(ServersTest, ServersThatDoNotKnowTheSession_LeaveItWhereItIs) {
  const TestServer stranger;
  FaultProxy wrong(stranger.address());
  Connection& connection = connect_by_proxy();
  const std::int64_t session = connection.session_id();
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  StateLog log(connection);
  connection.set_servers(wrong.address());
  ASSERT_TRUE(wrong.wait_until([](const FaultProxy::Counts& counts) { return counts.connections >= 2; }, kLimit));
  EXPECT_EQ(SyncClient(connection).sync("/").status, Status::ok);
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
  EXPECT_THAT(log.states(), IsEmpty());
  connection.set_servers(other().address());
  ASSERT_TRUE(wait_until_moved(old(), other()));
  EXPECT_EQ(connection.session_id(), session);
}

TEST_F(ServersTest, ServerThatFallsSilentDuringTheMove_IsLeftForTheNewOne) {
  Connection& connection = connect_by_proxy(8s);
  const std::int64_t session = connection.session_id();
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  other().hold_reply(RequestKind::connect);
  connection.set_servers(other().address());
  ASSERT_TRUE(other().wait_until_fired(kLimit));
  old().black_hole();
  other().release_held();
  ASSERT_TRUE(other().wait_until_open_connections(1, kLimit));
  EXPECT_EQ(SyncClient(connection).sync("/").status, Status::ok);
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
}

// A create that has reached the old server, whose answer is held back until the session has moved.
TEST_F(ServersTest, RequestUnderWayDuringTheMove_IsResolved) {
  Connection& connection = connect_by_proxy();
  create_node("/lock");
  old().hold_reply(RequestKind::create);
  FairMutex mutex(connection, "/lock");
  PendingHold pending = mutex.acquire_async();
  ASSERT_TRUE(old().wait_until_fired(kLimit));
  connection.set_servers(other().address());
  EXPECT_TRUE(pending.get().is_valid());
  EXPECT_EQ(other().open_connections(), 1);
  old().release_held();
}

TEST_F(ServersTest, AllAddressesAreReplacedAgainAndAgain_UnderLoad) {
  Connection& connection = connect_by_proxy();
  const std::int64_t session = connection.session_id();
  FairMutex kept(connection, "/kept");
  const Hold hold = kept.acquire();
  std::atomic<bool> stop{false};
  std::atomic<int> inside{0}, acquired{0}, mistakes{0};
  std::vector<std::thread> workers;
  for (int n = 0; n < 3; ++n)
    workers.emplace_back([&] {
      FairMutex mutex(connection, "/busy");
      while (!stop) {
        const Hold mine = mutex.acquire();
        if (inside.fetch_add(1) != 0 || !mine.is_valid()) ++mistakes;
        inside.fetch_sub(1);
        ++acquired;
      }
    });
  std::unique_ptr<FaultProxy> present = make_proxy();
  connection.set_servers(present->address());
  EXPECT_TRUE(wait_until_moved(old(), *present));
  for (int round = 0; round < 8; ++round) {
    auto next = make_proxy();
    const int before = acquired;
    connection.set_servers(next->address());
    // Half of the time the old server is stopped before the session has moved.
    if (round % 2 == 0) {
      EXPECT_TRUE(next->wait_until_open_connections(1, kLimit));
    }
    present = std::move(next);
    EXPECT_TRUE(wait_for([&] { return acquired > before + 5; }));
  }
  stop = true;
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(mistakes, 0);
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
  connection.set_servers(server().address());  // for what the fixture checks at the end
  EXPECT_TRUE(present->wait_until_open_connections(0, kLimit));
}

TEST_F(ServersTest, ManyThreadsThatSetThem_LeaveTheLastListInUse) {
  Connection& connection = connect_by_proxy();
  const std::int64_t session = connection.session_id();
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&, n] {
      for (int round = 0; round < 25; ++round)
        connection.set_servers((round + n) % 2 == 0 ? old().address() : other().address());
    });
  for (std::thread& thread : threads) thread.join();
  connection.set_servers(other().address());
  ASSERT_TRUE(wait_until_moved(old(), other()));
  EXPECT_EQ(SyncClient(connection).sync("/").status, Status::ok);
  EXPECT_EQ(connection.session_id(), session);
}

TEST_F(ServersTest, NamesOfTheNewList_AreAwaited) {
  FakeNames names;
  names.set("known.test", {"127.0.0.1"});
  names.set("late.test", {});
  Connection& connection = connect_by_proxy();
  const std::int64_t session = connection.session_id();
  StateLog log(connection);
  connection.set_servers("late.test" + port_of(other()) + ",known.test" + port_of(other()));
  const int lookups = names.lookups("late.test");
  ASSERT_TRUE(wait_for([&] { return names.lookups("late.test") > lookups + 1; })) << "it is asked again";
  EXPECT_EQ(other().counts().connections, 0) << "the name may be that of the server in use";
  EXPECT_THAT(log.states(), IsEmpty());
  names.set("late.test", {"127.0.0.1"});
  ASSERT_TRUE(wait_until_moved(old(), other()));
  EXPECT_EQ(connection.session_id(), session);
}

TEST_F(ServersTest, NameOfTheServerInUse_IsRecognised) {
  FakeNames names;
  names.set("zk.test", {"127.0.0.1"});
  Connection& connection = connect_by_proxy();
  connection.set_servers("zk.test" + port_of(old()) + "," + other().address());
  ASSERT_TRUE(wait_for([&] { return names.lookups("zk.test") > 0; }));
  const SyncClient client(connection);
  EXPECT_EQ(client.sync("/").status, Status::ok);
  EXPECT_EQ(old().counts().connections, 1);
  EXPECT_EQ(other().counts().connections, 0);
}

TEST_F(ServersTest, BadLists_AreRefusedAndChangeNothing) {
  Connection& connection = connect_by_proxy();
  for (const std::string& bad : {std::string(), std::string(","), std::string("host:0"), std::string("host:99999"),
                                 std::string("a b:1"), other().address() + "/another", other().address() + "/",
                                 other().address() + chroot() + "/deeper", other().address() + "//"})
    EXPECT_THROW(connection.set_servers(bad), std::invalid_argument) << bad;
  EXPECT_EQ(SyncClient(connection).sync("/").status, Status::ok);
  EXPECT_EQ(other().counts().connections, 0);
  connection.set_servers(other().address() + chroot());
  EXPECT_TRUE(wait_until_moved(old(), other())) << "the same chroot is no change";
}

TEST_F(ServersTest, ClosedConnection_RefusesThem) {
  Connection& connection = connect_by_proxy();
  connection.close();
  EXPECT_THROW(connection.set_servers(""), std::invalid_argument);
  EXPECT_THROW(connection.set_servers(other().address()), ConnectionClosed);
}

class EnsembleServersTest : public EnsembleTest {};

TEST_F(EnsembleServersTest, SessionMovesFromMemberToMember_WithItsHolds) {
  Connection& connection = connect(options_by_proxy({0}));
  const std::int64_t session = connection.session_id();
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  StateLog log(connection);
  for (const int member : {1, 2, 0, 2, 1, 0}) {
    connection.set_servers(proxy(member).address());
    ASSERT_TRUE(proxy(member).wait_until_open_connections(1, kLimit));
    for (int other = 0; other < 3; ++other)
      ASSERT_TRUE(proxy(other).wait_until_open_connections(other == member ? 1 : 0, kLimit)) << other;
    FairMutex another(connection, "/another");
    EXPECT_TRUE(another.acquire().is_valid());
  }
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
  EXPECT_THAT(log.states(), Not(Contains(State::lost)));
}

}  // namespace
}  // namespace zkrecipes::testing
