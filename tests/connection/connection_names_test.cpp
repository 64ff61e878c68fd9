// SPDX-License-Identifier: Apache-2.0
// Names of servers, and addresses that change behind them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/connection/fake_names.h"
#include "tests/support/fixture.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::Status;
using State = ConnectionState;

class ServerNames : public ControlledServerTest {
 protected:
  static std::string port_of(const FaultProxy& proxy) { return proxy.address().substr(proxy.address().rfind(':')); }

  FakeNames names_;
};

TEST_F(ServerNames, FailingWhileConnectedDisturbNothing) {
  names_.set("zk.test", {"127.0.0.1"});
  Connection& connection = connect(options_for("zk.test" + port_of(proxy()), 4s));
  const SyncClient client(connection);
  const auto session = client.session();
  StateLog log(connection);
  const int lookups = names_.lookups("zk.test");
  EXPECT_GE(lookups, 1);
  names_.set("zk.test", {});
  const auto begin = session->contact().valid_until();
  ASSERT_TRUE(wait_for([&] { return session->contact().valid_until() > begin + 4s; })) << "a session's worth of life";
  EXPECT_TRUE(log.states().empty());
  EXPECT_EQ(names_.lookups("zk.test"), lookups) << "nobody looks up the name of a server that answers";
  lose_connection();
  ASSERT_TRUE(log.wait_for({State::suspended, State::connected}));
  EXPECT_EQ(client.sync("/").status, Status::ok);
  EXPECT_EQ(client.session(), session);
  EXPECT_GT(names_.lookups("zk.test"), lookups) << "a server may have moved while we were away";
}

TEST_F(ServerNames, AreLookedUpAgainForANewSession) {
  names_.set("zk.test", {"127.0.0.1"});
  Connection& connection = connect(options_for("zk.test" + port_of(proxy()), 2s));
  StateLog log(connection);
  // The servers are gone from their address, and the name knows no other yet.
  names_.set("zk.test", {});
  proxy().refuse(true);
  ASSERT_TRUE(log.wait_for({State::suspended, State::lost}));
  const int lookups = names_.lookups("zk.test");
  ASSERT_TRUE(wait_for([&] { return names_.lookups("zk.test") > lookups + 2; })) << "it is asked again and again";
  proxy().refuse(false);
  names_.set("zk.test", {"127.0.0.1"});
  EXPECT_TRUE(log.wait_for({State::suspended, State::lost, State::connected}));
}

// Nothing answers at the old address any more, so the C client alone would try there for ever.
TEST_F(ServerNames, ThatMoveToAnotherAddressAreFollowed) {
  names_.set("zk.test", {"127.0.0.9"});
  Connection& connection = begin_connect(options_for("zk.test" + port_of(proxy()), 500ms));
  EXPECT_FALSE(connection.wait_until_connected(300ms));
  names_.set("zk.test", {"127.0.0.1"});
  EXPECT_TRUE(connection.wait_until_connected(kLimit));
}

TEST_F(ServerNames, OfSeveralAddressesAreTriedAtEach) {
  names_.set("zk.test", {"127.0.0.7", "127.0.0.8", "127.0.0.1", "::1"});
  Connection& connection = connect(options_for("zk.test" + port_of(proxy()), 20s));
  const auto session = connection.session_id();
  StateLog log(connection);
  lose_connection();
  EXPECT_TRUE(log.wait_for({State::suspended, State::connected}));
  EXPECT_EQ(connection.session_id(), session);
}

TEST_F(ServerNames, ThatDoNotResolveArePassedOver) {
  names_.set("missing.test", {});
  Connection& connection = connect(options_for("missing.test:2181,localhost" + port_of(proxy()), 20s));
  EXPECT_EQ(SyncClient(connection).sync("/").status, Status::ok);
}

// As in a rolling restart where every server returns with another address: two proxies, of which only one listens.
TEST_F(ServerNames, WhoseAddressesAllChangeKeepTheSessionAndItsHolds) {
  names_.set("a.test", {"127.0.0.7"});
  names_.set("b.test", {"127.0.0.1"});
  FaultProxy moved(server().address());
  // The name moves by way of its list: the port of the new place is the other one's.
  names_.set("c.test", {"127.0.0.9"});
  Connection& connection = connect(
      options_for("a.test" + port_of(proxy()) + ",b.test" + port_of(proxy()) + ",c.test" + port_of(moved), 20s));
  FairMutex lock(connection, "/lock");
  const Hold hold = lock.acquire();
  const auto session = connection.session_id();
  StateLog log(connection);
  proxy().refuse(true);
  ASSERT_TRUE(log.wait_for(State::suspended));
  names_.set("a.test", {"127.0.0.17"});
  names_.set("b.test", {"127.0.0.18"});
  names_.set("c.test", {"127.0.0.1"});
  ASSERT_TRUE(log.wait_for({State::suspended, State::connected}));
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
  disconnect(connection);
}

TEST_F(ServerNames, ThatDoNotResolveAtTheStartJoinLater) {
  FaultProxy second(server().address());
  names_.set("first.test", {"127.0.0.1"});
  names_.set("late.test", {});
  Connection& connection = connect(options_for("first.test" + port_of(proxy()) + ",late.test" + port_of(second), 20s));
  FairMutex lock(connection, "/lock");
  const Hold hold = lock.acquire();
  const auto session = connection.session_id();
  StateLog log(connection);
  names_.set("late.test", {"127.0.0.1"});
  names_.set("first.test", {});
  proxy().refuse(true);
  ASSERT_TRUE(log.wait_for({State::suspended, State::connected}));
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
  disconnect(connection);
}

TEST_F(ServerNames, ThatNeverResolveAreNoObstacleToClosing) {
  names_.set("missing.test", {});
  Connection& connection = begin_connect(options_for("missing.test:2181", 20s));
  ASSERT_TRUE(wait_for([&] { return names_.lookups("missing.test") > 2; }));
  EXPECT_EQ(connection.state(), State::connecting);
  connection.close();
  EXPECT_EQ(connection.state(), State::closed);
}

}  // namespace
}  // namespace zkrecipes::testing
