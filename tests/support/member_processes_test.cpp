// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <zookeeper/zookeeper.h>

#include "tests/support/test_server_fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;

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
  CodeClient of_paused(ensemble().address(paused), 30s);
  ASSERT_TRUE(of_paused.connect());
  ensemble().pause_member(paused);
  const int successor = ensemble().leader_after(paused);
  // A leader serves before its follower does.
  EXPECT_TRUE(eventually([&] { return ensemble().info().running == 2; }));
  CodeClient majority(ensemble().address(successor), 30s);
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
  CodeClient client(ensemble().addresses(), 30s);
  ASSERT_TRUE(client.connect());
  ASSERT_EQ(client.create("/kept"), ZOK);
  const int killed = ensemble().kill_leader();
  EXPECT_NE(ensemble().leader_after(killed), killed);
  ensemble().restart(killed);
  EXPECT_EQ(ensemble().info().running, 3);
  ensemble().stop(killed);
  EXPECT_EQ(ensemble().info().running, 2);
  ensemble().restart_all();
  CodeClient of_killed(ensemble().address(killed), 30s);
  ASSERT_TRUE(of_killed.connect());
  EXPECT_EQ(of_killed.exists("/kept"), ZOK);
}

TEST_F(MemberProcessTest, LinksCanBeCut) {
  const int leader = ensemble().leader();
  CodeClient client(ensemble().address(leader), 30s);
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

}  // namespace
}  // namespace zkrecipes::testing
