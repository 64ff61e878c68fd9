// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <zookeeper/zookeeper.h>

#include "tests/support/test_server_fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;

TEST_F(TestServerTest, RestartKeepsDataAndPort) {
  TestServer server;
  const std::string address = server.address();
  CodeClient client(server.address());
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
  CodeClient client(server.address());
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
  CodeClient expired(server.address());
  CodeClient observer(server.address());
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
    CodeClient client(server.address());
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
  CodeClient shortest(server.address(), 100ms);
  CodeClient longest(server.address(), 60s);
  ASSERT_TRUE(shortest.connect());
  ASSERT_TRUE(longest.connect());
  EXPECT_EQ(zoo_recv_timeout(shortest.get()), 300);
  EXPECT_EQ(zoo_recv_timeout(longest.get()), 5000);
}

TEST_F(TestServerTest, EmptyContainerIsRemovedAfterTheCheckInterval) {
  ServerOptions options;
  options.container_check_interval = 50ms;
  TestServer server(options);
  CodeClient client(server.address());
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
  CodeClient client(second.address());
  ASSERT_TRUE(client.connect());
  ASSERT_EQ(client.create("/only-in-second"), ZOK);
  first.kill();
  EXPECT_EQ(client.exists("/only-in-second"), ZOK);
  first.restart();
  CodeClient other(first.address());
  ASSERT_TRUE(other.connect());
  EXPECT_EQ(other.exists("/only-in-second"), ZNONODE);
}

TEST_F(TestServerTest, LargestPacketFollowsTheOption) {
  ServerOptions options;
  options.jute_max_buffer = 4 << 20;
  TestServer server(options);
  CodeClient client(server.address());
  ASSERT_TRUE(client.connect());
  EXPECT_EQ(client.create("/large", ZOO_PERSISTENT, std::string(2 << 20, 'x')), ZOK);
}

}  // namespace
}  // namespace zkrecipes::testing
