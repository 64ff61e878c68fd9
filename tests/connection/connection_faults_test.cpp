// SPDX-License-Identifier: Apache-2.0
// Faults of the network other than lost replies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::Status;
using State = ConnectionState;
using ::testing::SizeIs;

class BadNetwork : public ControlledServerTest {
 protected:
  /// One of each request, each of which must do what it says.
  void expect_everything_works(const SyncClient& client) {
    const auto spec = fixed_node("/lock", "owner");
    const auto node = client.create(spec);
    const auto watch = client.begin_watch(node.path);
    EXPECT_EQ(watch.reply.part().data, spec.data);
    EXPECT_THAT(client.list("/lock").children, SizeIs(1));
    EXPECT_EQ(client.sync("/lock").status, Status::ok);
    EXPECT_EQ(client.exists("/lock/other").status, Status::no_node);
    const auto set = client.set(node.path, spec.data + ", still", 0);
    EXPECT_EQ(set.status, Status::ok);
    EXPECT_EQ(set.stat.version, 1);
    EXPECT_TRUE(watch.event.wait());
    EXPECT_EQ(client.begin_remove(node.path, node.stat.czxid).part(), Status::ok);
    EXPECT_THAT(children("/lock"), SizeIs(0));
  }
};

TEST_F(BadNetwork, RequestsCutHalfWayAreSentAgain) {
  const SyncClient client(connect_by_proxy());
  for (const auto kind : {RequestKind::create, RequestKind::get_data, RequestKind::get_children, RequestKind::sync,
                          RequestKind::exists, RequestKind::set_data, RequestKind::remove})
    proxy().cut_request_half_way(kind);
  expect_everything_works(client);
  EXPECT_TRUE(proxy().wait_until_fired(kLimit));
}

TEST_F(BadNetwork, RequestsThatNeverReachTheServerAreSentAgain) {
  const SyncClient client(connect_by_proxy());
  for (const auto kind : {RequestKind::create, RequestKind::get_data, RequestKind::get_children, RequestKind::sync,
                          RequestKind::exists, RequestKind::set_data, RequestKind::remove})
    proxy().cut_before_request(kind);
  expect_everything_works(client);
  EXPECT_TRUE(proxy().wait_until_fired(kLimit));
}

TEST_F(BadNetwork, SingleBytesAreEnough) {
  proxy().deliver_single_bytes(true);
  const SyncClient client(connect_by_proxy());
  expect_everything_works(client);
}

TEST_F(BadNetwork, DelayIsOnlySlow) {
  proxy().delay(20ms);
  const SyncClient client(connect_by_proxy());
  expect_everything_works(client);
}

TEST_F(BadNetwork, ResetsAreSurvived) {
  Connection& connection = connect_by_proxy();
  const SyncClient client(connection);
  StateLog log(connection);
  const auto session = connection.session_id();
  for (std::size_t n = 1; n <= 3; ++n) {
    proxy().reset();
    ASSERT_TRUE(wait_for([&] { return log.states().size() == 2 * n; }));
  }
  expect_everything_works(client);
  EXPECT_EQ(connection.session_id(), session);
}

TEST_F(BadNetwork, ServerThatAcceptsAndNeverAnswersIsLeftAsSoonAsItIsHealthy) {
  proxy().never_answer(true);
  Connection& connection = begin_connect(options_by_proxy(3s));
  EXPECT_FALSE(connection.wait_until_connected(1s));
  EXPECT_EQ(connection.state(), State::connecting);
  proxy().never_answer(false);
  EXPECT_TRUE(connection.wait_until_connected(kLimit));
  expect_everything_works(SyncClient(connection));
}

TEST_F(BadNetwork, OneServerThatNeverAnswersDoesNotKeepUsFromTheOther) {
  proxy().never_answer(true);
  FaultProxy healthy(server().address());
  Connection& connection = begin_connect(options_for(proxy().address() + "," + healthy.address(), 3s));
  EXPECT_TRUE(connection.wait_until_connected(kLimit));
  expect_everything_works(SyncClient(connection));
  disconnect(connection);
}

TEST_F(BadNetwork, BlackHoleInEitherDirectionLosesTheSessionAndANewOneFollows) {
  for (const Direction direction : {Direction::to_server, Direction::to_client, Direction::both}) {
    Connection& connection = connect_by_proxy(2s);
    const SyncClient client(connection);
    StateLog log(connection);
    const auto old = client.session();
    const auto node = client.create(queue_node("/lock"));
    proxy().black_hole(direction);
    const auto stuck = client.begin(detail::RequestKind::list, "/lock", old);
    EXPECT_EQ(stuck.part().status, Status::session_over);
    EXPECT_TRUE(old->is_over());
    proxy().heal();
    EXPECT_TRUE(log.wait_for({State::suspended, State::lost, State::connected}));
    EXPECT_TRUE(wait_for_children("/lock", 0)) << "the server expires what we left";
    expect_everything_works(client);
  }
}

TEST_F(BadNetwork, RequestsMadeWhileSuspendedWaitAndAreThenDone) {
  Connection& connection = connect_by_proxy();
  const SyncClient client(connection);
  const auto session = client.session();
  proxy().refuse(true);
  ASSERT_TRUE(wait_for_state(connection, State::suspended));
  const auto created = client.begin_create(queue_node("/lock"), session);
  const auto listed = client.begin(detail::RequestKind::list, "/", session);
  EXPECT_EQ(load_of(connection).requests, 2u);
  EXPECT_FALSE(created.ready());
  proxy().refuse(false);
  const auto [status, node] = created.get();
  EXPECT_EQ(status, Status::ok);
  EXPECT_EQ(listed.part().status, Status::ok);
  EXPECT_EQ(client.remove(node.path), Status::ok);
}

TEST_F(BadNetwork, RequestsMadeWhileSuspendedEndWithTheSession) {
  Connection& connection = connect_by_proxy(2s);
  const SyncClient client(connection);
  const auto session = client.session();
  proxy().refuse(true);
  ASSERT_TRUE(wait_for_state(connection, State::suspended));
  const auto created = client.begin_create(queue_node("/lock"), session);
  const auto removed = client.begin_remove("/lock/x", {}, session);
  const auto watched = client.begin_watch("/", session);
  EXPECT_EQ(created.part(), Status::session_over);
  EXPECT_EQ(removed.part(), Status::session_over);
  EXPECT_EQ(watched.reply.part().status, Status::session_over);
  EXPECT_FALSE(watched.event.ready());
}

TEST_F(BadNetwork, ProbeOfANodeThatSomebodyDeletedCallsOnce) {
  Connection& connection = connect_by_proxy(5s);
  const SyncClient client(connection);
  const auto gone = client.create(queue_node("/lock"));
  const auto kept = client.create(queue_node("/lock"));
  Answer<> told;
  Answer<> wrongly_told;
  client.client().probe(client.session(), gone.path, detail::NodeRole::waits, 0, told.handler());
  const auto probe =
      client.client().probe(client.session(), kept.path, detail::NodeRole::waits, 0, wrongly_told.handler());
  remove_node(gone.path);
  EXPECT_TRUE(told.wait());
  lose_connection();
  ASSERT_TRUE(proxy().wait_until([](const FaultProxy::Counts& counts) { return counts.connections >= 2; }, kLimit));
  client.sync("/");
  EXPECT_FALSE(wrongly_told.ready());
  client.client().unprobe(probe);
  EXPECT_EQ(client.remove(kept.path), Status::ok);
}

}  // namespace
}  // namespace zkrecipes::testing
