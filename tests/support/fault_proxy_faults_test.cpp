// SPDX-License-Identifier: Apache-2.0
// One-shot faults, which hit one chosen request.
#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <stdexcept>
#include <zookeeper/zookeeper.h>

#include "tests/support/fault_proxy_fixture.h"

namespace zkrecipes::testing {
namespace {

using std::chrono::milliseconds;

TEST_F(FaultProxyTest, DropReply_TheServerHasTheNodeAndTheClientDoesNotKnow) {
  proxy.drop_reply(RequestKind::create);
  EXPECT_EQ(proxy.armed(), 1);
  EXPECT_EQ(client->create(node, "", ZOO_SEQUENCE).get(), ZCONNECTIONLOSS);
  EXPECT_TRUE(proxy.wait_until_fired(kLimit));
  EXPECT_EQ(direct.children(root), 2);  // with the one from SetUp
  EXPECT_EQ(client->exists_in_the_end(root + "/before"), ZOK);
  EXPECT_EQ(client->create(node).get(), ZOK) << "a fault hits once";
}

TEST_F(FaultProxyTest, DropReply_HitsTheNthRequestOfItsKindOnly) {
  proxy.drop_reply(RequestKind::create, 2);
  EXPECT_EQ(client->create(node + "1").get(), ZOK);
  EXPECT_EQ(client->list(root).get(), ZOK);
  EXPECT_FALSE(proxy.wait_until_fired(milliseconds(0)));
  EXPECT_EQ(client->create(node + "2").get(), ZCONNECTIONLOSS);
  EXPECT_EQ(direct.exists(node + "2").get(), ZOK);
}

TEST_F(FaultProxyTest, DropReply_ArmedTwiceHitsTwoRequestsInARow) {
  proxy.drop_reply(RequestKind::create);
  proxy.drop_reply(RequestKind::create);
  EXPECT_EQ(client->create(node + "1").get(), ZCONNECTIONLOSS);
  EXPECT_EQ(proxy.armed(), 1);
  EXPECT_EQ(client->exists_in_the_end(root), ZOK);
  EXPECT_EQ(client->create(node + "2").get(), ZCONNECTIONLOSS);
  EXPECT_EQ(proxy.armed(), 0);
  EXPECT_EQ(direct.children(root), 3);
}

TEST_F(FaultProxyTest, DropReply_LetsTheRepliesBeforeItThrough) {
  proxy.drop_reply(RequestKind::get_children);
  std::future<int> created = client->create(node);
  std::future<int> listed = client->list(root);
  EXPECT_EQ(created.get(), ZOK);
  EXPECT_EQ(listed.get(), ZCONNECTIONLOSS);
}

TEST_F(FaultProxyTest, CutRequestHalfWay_IsNeverApplied) {
  proxy.cut_request_half_way(RequestKind::create);
  EXPECT_EQ(client->create(node).get(), ZCONNECTIONLOSS);
  EXPECT_TRUE(proxy.wait_until_fired(kLimit));
  EXPECT_EQ(client->exists_in_the_end(node), ZNONODE);
  EXPECT_EQ(direct.exists(node).get(), ZNONODE);
}

TEST_F(FaultProxyTest, CutBeforeRequest_IsNeverAppliedButWhatWasSentBeforeIs) {
  proxy.cut_before_request(RequestKind::get_children);
  std::future<int> created = client->create(node);
  EXPECT_EQ(client->list(root).get(), ZCONNECTIONLOSS);
  created.wait();
  EXPECT_EQ(client->exists_in_the_end(node), ZOK);
}

TEST_F(FaultProxyTest, HoldReply_KeepsBackTheReplyAndAllBehindIt) {
  proxy.hold_reply(RequestKind::create);
  std::future<int> created = client->create(node);
  std::future<int> listed = client->list(root);
  ASSERT_TRUE(proxy.wait_until_fired(kLimit));
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.replies == 2; }, kLimit));
  EXPECT_EQ(direct.exists(node).get(), ZOK);
  EXPECT_EQ(created.wait_for(milliseconds(0)), std::future_status::timeout);
  EXPECT_EQ(listed.wait_for(milliseconds(0)), std::future_status::timeout);
  proxy.release_held();
  EXPECT_EQ(created.get(), ZOK);
  EXPECT_EQ(listed.get(), ZOK);
  EXPECT_EQ(proxy.counts().connections, 0) << "the connection lived on";
}

TEST_F(FaultProxyTest, HoldReply_CutInsteadOfReleasedIsALostReply) {
  proxy.hold_reply(RequestKind::create);
  std::future<int> created = client->create(node);
  ASSERT_TRUE(proxy.wait_until_fired(kLimit));
  proxy.cut();
  EXPECT_EQ(created.get(), ZCONNECTIONLOSS);
  EXPECT_EQ(direct.exists(node).get(), ZOK);
}

TEST_F(FaultProxyTest, AnswerWithError_TheServerDoesNothingAndTheConnectionStays) {
  proxy.answer_with_error(RequestKind::create, ZTHROTTLEDOP, 2);
  EXPECT_EQ(client->create(node).get(), ZTHROTTLEDOP);
  EXPECT_EQ(client->create(node).get(), ZTHROTTLEDOP);
  EXPECT_EQ(proxy.armed(), 0);
  EXPECT_EQ(client->create(node).get(), ZOK) << "it was not carried out before";
  EXPECT_EQ(proxy.counts().connections, 0) << "the first connection is older than the counts";
  EXPECT_THROW(proxy.answer_with_error(RequestKind::ping, ZTHROTTLEDOP), std::invalid_argument);
}

TEST_F(FaultProxyTest, ClearFaults_Disarms) {
  proxy.drop_reply(RequestKind::create);
  proxy.cut_before_request(RequestKind::create, 2);
  EXPECT_EQ(proxy.armed(), 2);
  proxy.clear_faults();
  EXPECT_EQ(proxy.armed(), 0);
  EXPECT_EQ(client->create(node).get(), ZOK);
}

TEST_F(FaultProxyTest, AFaultWhoseConnectionEndsFirstStaysArmed) {
  proxy.black_hole(Direction::to_client);
  proxy.drop_reply(RequestKind::create);
  std::future<int> created = client->create(node + "1");
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.replies == 1; }, kLimit));
  proxy.heal();
  EXPECT_EQ(created.get(), ZCONNECTIONLOSS);
  EXPECT_EQ(proxy.armed(), 1);
  EXPECT_EQ(client->exists_in_the_end(root), ZOK);
  EXPECT_EQ(client->create(node + "2").get(), ZCONNECTIONLOSS);
  EXPECT_EQ(proxy.armed(), 0);
}

}  // namespace
}  // namespace zkrecipes::testing
