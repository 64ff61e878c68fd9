// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>
#include <zookeeper/zookeeper.h>

#include "tests/support/test_server_fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;

TEST_F(TestEnsembleTest, AnotherMemberLeadsAfterTheLeaderIsKilled) {
  TestEnsemble ensemble;
  CodeClient client(ensemble.addresses());
  ASSERT_TRUE(client.connect());
  ASSERT_EQ(client.create("/replicated"), ZOK);
  const int killed = ensemble.kill_leader();
  const int successor = ensemble.leader();
  EXPECT_NE(successor, killed);
  CodeClient of_successor(ensemble.address(successor));
  ASSERT_TRUE(of_successor.connect());
  EXPECT_EQ(of_successor.exists("/replicated"), ZOK);
  ensemble.restart(killed);
  EXPECT_EQ(ensemble.info().running, 3);
  CodeClient of_killed(ensemble.address(killed));
  ASSERT_TRUE(of_killed.connect());
  EXPECT_EQ(of_killed.exists("/replicated"), ZOK);
}

TEST_F(TestEnsembleTest, SessionOfAFollowerExpiresEverywhere) {
  TestEnsemble ensemble;
  const int follower = (ensemble.leader() + 1) % ensemble.size();
  CodeClient expired(ensemble.address(follower));
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
  CodeClient client(ensemble.addresses());
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
  CodeClient client(ensemble.addresses());
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
  CodeClient client(ensemble.address(ensemble.leader()));
  ASSERT_TRUE(client.connect());
  ASSERT_EQ(client.create("/container", ZOO_CONTAINER), ZOK);
  ASSERT_EQ(client.create("/container/child"), ZOK);
  ASSERT_EQ(client.remove("/container/child"), ZOK);
  EXPECT_TRUE(eventually([&] { return client.exists("/container") == ZNONODE; }));
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
    CodeClient client(ensemble.address(member), 20s);
    ASSERT_TRUE(client.connect());
    EXPECT_EQ(std::chrono::milliseconds(zoo_recv_timeout(client.get())),
              options.max_session_timeouts[static_cast<std::size_t>(member)]);
  }
}

}  // namespace
}  // namespace zkrecipes::testing
