// SPDX-License-Identifier: Apache-2.0
// Conditions that hold for all connections until heal().
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <future>
#include <gtest/gtest.h>
#include <string>
#include <system_error>
#include <vector>
#include <zookeeper/zookeeper.h>

#include "tests/support/bare_socket.h"
#include "tests/support/fault_proxy_fixture.h"

namespace zkrecipes::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST_F(FaultProxyTest, Cut_EndsConnectionsAndTheSessionComesBack) {
  const std::int64_t session = client->session_id();
  EXPECT_EQ(proxy.open_connections(), 1);
  proxy.cut();
  EXPECT_EQ(client->exists_in_the_end(root), ZOK);
  EXPECT_EQ(proxy.counts().connections, 1);
  EXPECT_EQ(proxy.open_connections(), 1);
  EXPECT_EQ(client->session_id(), session);
}

TEST_F(FaultProxyTest, BlackHoleToClient_TheServerAppliesAndNobodyHears) {
  proxy.black_hole(Direction::to_client);
  std::future<int> created = client->create(node);
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.replies == 1; }, kLimit));
  EXPECT_EQ(direct.exists(node).get(), ZOK);
  EXPECT_EQ(proxy.counts().bytes_to_client, 0);
  EXPECT_EQ(proxy.open_connections(), 1);
  proxy.heal();
  EXPECT_EQ(created.get(), ZCONNECTIONLOSS);
  EXPECT_EQ(client->exists_in_the_end(node), ZOK);
}

TEST_F(FaultProxyTest, BlackHoleToServer_TheServerHearsNothing) {
  proxy.black_hole(Direction::to_server);
  std::future<int> created = client->create(node);
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.of(RequestKind::create) == 1; }, kLimit));
  EXPECT_EQ(proxy.counts().bytes_to_server, 0);
  proxy.heal();
  EXPECT_EQ(created.get(), ZCONNECTIONLOSS);
  EXPECT_EQ(client->exists_in_the_end(node), ZNONODE);
}

TEST_F(FaultProxyTest, Delay_IsPaidBothWays) {
  constexpr milliseconds kDelay{60};
  proxy.delay(kDelay);
  auto began = steady_clock::now();
  EXPECT_EQ(client->create(node).get(), ZOK);
  EXPECT_GE(steady_clock::now() - began, 2 * kDelay);

  std::vector<std::future<int>> creates;
  creates.reserve(20);
  for (int i = 0; i < 20; ++i) {
    creates.push_back(client->create(node + std::to_string(i)));
  }
  for (std::future<int>& created : creates) {
    EXPECT_EQ(created.get(), ZOK);
  }
  proxy.heal();
  EXPECT_EQ(client->list(root).get(), ZOK);
  EXPECT_EQ(proxy.counts().connections, 0) << "a delay ends without harm";
}

TEST_F(FaultProxyTest, DeliverSingleBytes_WorksEndToEnd) {
  proxy.deliver_single_bytes(true);
  const std::string data(3'000, 'z');
  EXPECT_EQ(client->create(node, data).get(), ZOK);
  EXPECT_EQ(client->data(node), data);
  EXPECT_EQ(proxy.counts().connections, 0);
}

TEST_F(FaultProxyTest, Refuse_CutsAndRefusesAndLaterListensOnTheSamePort) {
  const std::string address = proxy.address();
  const std::int64_t session = client->session_id();
  proxy.refuse(true);
  EXPECT_EQ(proxy.open_connections(), 0);
  for (int i = 0; i < 20; ++i) {
    try {
      BareSocket::connected_to(address);
      ADD_FAILURE() << "was accepted";
    } catch (const std::system_error& refused) {
      EXPECT_EQ(refused.code().value(), ECONNREFUSED);
    }
  }
  proxy.refuse(false);
  EXPECT_EQ(proxy.address(), address);
  EXPECT_EQ(client->exists_in_the_end(root), ZOK);
  EXPECT_EQ(client->session_id(), session);
  proxy.refuse(true);
  proxy.heal();
  EXPECT_EQ(client->exists_in_the_end(root), ZOK);
}

}  // namespace
}  // namespace zkrecipes::testing
