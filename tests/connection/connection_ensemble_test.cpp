// SPDX-License-Identifier: Apache-2.0
// Several servers, of which some fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>

#include "connection/system_world.h"
#include "tests/support/fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::Status;
using State = ConnectionState;
using ::testing::Contains;
using ::testing::Not;
using ::testing::SizeIs;

class Ensemble : public EnsembleTest {
 protected:
  /// Which of the two proxies the one connection uses now.
  int member_in_use(int first, int second) { return proxy(first).open_connections() > 0 ? first : second; }
};

TEST_F(Ensemble, RollingRestartKeepsTheSession) {
  Connection& connection = connect();
  StateLog log(connection);
  const SyncClient client(connection);
  const auto session = client.session();
  const auto node = client.create(queue_node("/lock"));
  for (int member = 0; member < 3; ++member) {
    ensemble().stop(member);
    EXPECT_EQ(client.sync("/").status, Status::ok);
    ensemble().restart(member);
    EXPECT_EQ(client.sync("/").status, Status::ok);
  }
  EXPECT_EQ(client.session(), session);
  EXPECT_THAT(log.states(), Not(Contains(State::lost)));
  EXPECT_EQ(client.exists(node.path).stat.ephemeral_owner, session->id());
  EXPECT_EQ(client.remove(node.path), Status::ok);
}

TEST_F(Ensemble, KilledLeaderCostsNoSessionAndNoNode) {
  Connection& connection = connect();
  const SyncClient client(connection);
  const auto session = client.session();
  const auto before = client.create(queue_node("/lock"));
  const int killed = ensemble().kill_leader();
  const auto during = client.create(queue_node("/lock"));
  EXPECT_GT(during.stat.czxid, before.stat.czxid);
  EXPECT_THAT(client.list("/lock").children, SizeIs(2));
  ensemble().restart(killed);
  EXPECT_EQ(client.session(), session);
  EXPECT_EQ(client.remove(before.path), Status::ok);
  EXPECT_EQ(client.remove(during.path), Status::ok);
}

TEST_F(Ensemble, StoppedAndStartedAgainItIsFoundAgain) {
  Connection& connection = connect(options(4s));
  StateLog log(connection);
  const SyncClient client(connection);
  client.create(queue_node("/lock"));
  ensemble().stop_all();
  ASSERT_TRUE(log.wait_for(State::lost));
  ensemble().restart_all();
  EXPECT_TRUE(wait_for_state(connection, State::connected));
  EXPECT_TRUE(wait_for_children("/lock", 0));
  const auto node = client.create(queue_node("/lock"));
  EXPECT_EQ(client.remove(node.path), Status::ok);
}

// The addresses in the list are those of proxies, which connect to other members afterwards.
TEST_F(Ensemble, MinoritySideIsLeftForTheMajority) {
  const int cut_off = any_follower();
  const int other = (cut_off + 1) % 3;
  Connection& connection = connect(options_by_proxy({cut_off}, 4s));
  const SyncClient client(connection);
  StateLog log(connection);
  ensemble().stop(other);
  ensemble().stop((cut_off + 2) % 3);
  // Alone, the member serves nobody.
  ASSERT_TRUE(log.wait_for(State::lost));
  proxy(cut_off).set_upstream(ensemble().address(other));
  ensemble().restart(other);
  ensemble().restart((cut_off + 2) % 3);
  EXPECT_TRUE(wait_for_state(connection, State::connected));
  EXPECT_EQ(client.sync("/").status, Status::ok);
}

// The next member may not have received the node yet; the connection must make it catch up.
TEST_F(Ensemble, LostReplyIsResolvedOnAnotherMember) {
  const int first = any_follower();
  const int second = 3 - ensemble().leader() - first;
  create_node("/lock");
  for (int round = 0; round < 6; ++round) {
    Connection& connection = connect(options_by_proxy({first, second}));
    const SyncClient client(connection);
    client.sync("/");
    const auto session = client.session();
    const int from = member_in_use(first, second);
    const int to = from == first ? second : first;
    FaultProxy& left = proxy(from);
    left.drop_reply(RequestKind::create);
    left.observe([&left](const Observed& seen) {
      if (seen.kind == RequestKind::create && seen.sort == Message::Sort::reply) left.refuse(true);
    });
    const auto node = client.create(queue_node("/lock"));
    EXPECT_TRUE(left.wait_until_fired(kLimit));
    EXPECT_TRUE(node.recovered);
    EXPECT_EQ(client.session(), session) << "it moved with us";
    EXPECT_EQ(member_in_use(first, second), to);
    EXPECT_THAT(client.list("/lock").children, SizeIs(1));
    left.observe(nullptr);
    left.refuse(false);
    EXPECT_EQ(client.remove(node.path), Status::ok);
    disconnect(connection);
  }
}

// A request that passed one member before the connection was lost is seen through the other.
TEST_F(Ensemble, RemoveWhoseReplyWasLostIsResolvedOnAnotherMember) {
  const int first = any_follower();
  const int second = 3 - ensemble().leader() - first;
  Connection& connection = connect(options_by_proxy({first, second}));
  const SyncClient client(connection);
  const auto node = client.create(fixed_node("/lock", "owner"));
  FaultProxy& left = proxy(member_in_use(first, second));
  left.drop_reply(RequestKind::remove);
  left.observe([&left](const Observed& seen) {
    if (seen.kind == RequestKind::remove && seen.sort == Message::Sort::reply) left.refuse(true);
  });
  EXPECT_EQ(client.begin_remove("/lock/owner", node.stat.czxid).part(), Status::ok);
  EXPECT_FALSE(node_exists("/lock/owner"));
  left.observe(nullptr);
}

// ZOOKEEPER-2466.
TEST_F(Ensemble, OfTwoServersThatBothDieTheFirstAloneIsFoundAgain) {
  for (const int returning : {0, 1}) {
    Connection& connection = connect(options_by_proxy({0, 1}, 30s));
    const auto session = connection.session_id();
    proxy(0).refuse(true);
    proxy(1).refuse(true);
    ASSERT_TRUE(wait_for_state(connection, State::suspended));
    proxy(returning).refuse(false);
    EXPECT_TRUE(wait_for_state(connection, State::connected)) << "server " << returning;
    EXPECT_EQ(connection.session_id(), session);
    proxy(1 - returning).refuse(false);
    disconnect(connection);
  }
}

// A follower dies with activity that it had not yet reported to the leader: the leader then counts from the request
// before the last. The connections begin one after the other, so that their heartbeats meet the death at different
// times.
TEST_F(Ensemble, LeasesAreOverBeforeTheLeaderExpiresSessionsWhoseFollowerWasKilled) {
  struct Try {
    detail::SessionPtr session;
    Answer<Clock::time_point> expired;
  };
  constexpr auto kTimeout = 3000ms;
  const int follower = any_follower();
  SyncClient witness(connect(options_for(ensemble().address(ensemble().leader()), 30s)));
  std::vector<Try> tries(20);
  detail::Lease::Time begin;
  for (Try& each : tries) {
    const SyncClient client(connect(options_by_proxy({follower}, kTimeout)));
    const auto node = client.create(queue_node("/lock"));
    each.session = client.session();
    // A follower may answer before the leader shows the node.
    ASSERT_TRUE(wait_for([&] { return witness.exists(node.path).status == Status::ok; }));
    ReplyAnswer set;
    witness.client().watch_node(
        witness.session(), node.path, [handler = each.expired.handler()](detail::WatchEvent) { handler(Clock::now()); },
        set.handler());
    ASSERT_EQ(set.part().status, Status::ok);
    client.client().probe(each.session, node.path, detail::NodeRole::holds, 0, [] {});
    begin = each.session->lease().valid_until();
  }
  ASSERT_TRUE(wait_for([&] { return tries.back().session->lease().valid_until() > begin + kTimeout; }));
  ensemble().kill(follower);
  auto least = Clock::duration::max();
  for (const Try& each : tries)
    least =
        std::min(least, each.expired.part() - detail::system_world()->to_public(each.session->lease().valid_until()));
  std::cout << "follower killed, session timeout " << kTimeout.count() << " ms: leases ended at least "
            << std::chrono::duration_cast<std::chrono::milliseconds>(least).count()
            << " ms before the leader's expiry\n";
  EXPECT_GT(least, 0ms);
}

}  // namespace
}  // namespace zkrecipes::testing
