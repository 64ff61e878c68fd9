// SPDX-License-Identifier: Apache-2.0
// Replies that are lost after the server has applied the request.
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

#include "tests/support/fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::Reply;
using detail::Status;
using detail::WatchEvent;
using Sent = detail::RequestKind;
using ::testing::SizeIs;

class LostReply : public ControlledServerTest {
 protected:
  /// Connected through the proxy, with everything that connecting brings already over.
  SyncClient quiet_client() {
    Connection& connection = connect_by_proxy();
    create_node("/lock");
    SyncClient client(connection);
    client.sync("/");
    return client;
  }
  void expect_fired() { EXPECT_TRUE(proxy().wait_until_fired(kLimit)); }
  /// One node, it is the one the answer says, and the server agrees about its czxid and owner.
  void expect_only_node(const SyncClient& client, const detail::CreatedNode& node) {
    ASSERT_THAT(children("/lock"), SizeIs(1));
    EXPECT_EQ("/lock/" + children("/lock").front(), node.path);
    const auto stat = plain().stat(full(node.path));
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->czxid, node.stat.czxid);
    EXPECT_EQ(stat->ephemeralOwner, client.session()->id());
  }
};

TEST_F(LostReply, OfACreateLeavesExactlyOneNodeWithTheRightToken) {
  const SyncClient client = quiet_client();
  const auto session = client.session();
  proxy().drop_reply(RequestKind::create);
  const auto node = client.create(queue_node("/lock"));
  expect_fired();
  EXPECT_TRUE(node.recovered);
  EXPECT_EQ(client.session(), session) << "a lost reply costs no session";
  expect_only_node(client, node);
  EXPECT_EQ(client.remove(node.path), Status::ok);
}

TEST_F(LostReply, OfACreateWithFixedNameIsRecognisedAsOurs) {
  const SyncClient client = quiet_client();
  proxy().drop_reply(RequestKind::create);
  const auto spec = fixed_node("/lock", "owner");
  const auto node = client.create(spec);
  EXPECT_EQ(node.path, "/lock/owner");
  EXPECT_TRUE(node.recovered);
  expect_only_node(client, node);
  EXPECT_EQ(client.begin_remove(node.path, node.stat.czxid).part(), Status::ok);
}

TEST_F(LostReply, OfTheParentsCreateDoesNotDisturbTheNode) {
  const SyncClient client = quiet_client();
  for (int parent = 1; parent <= 3; ++parent) proxy().drop_reply(RequestKind::create, parent);
  const auto node = client.create(queue_node("/lock/deep/er"));
  expect_fired();
  EXPECT_THAT(children("/lock/deep/er"), SizeIs(1));
  EXPECT_EQ(client.remove(node.path), Status::ok);
}

TEST_F(LostReply, OfARemoveIsRepeatedUntilTheNodeIsGone) {
  const SyncClient client = quiet_client();
  const auto node = client.create(queue_node("/lock"));
  proxy().drop_reply(RequestKind::remove);
  EXPECT_EQ(client.remove(node.path), Status::ok);
  expect_fired();
  EXPECT_THAT(children("/lock"), SizeIs(0));
}

// The first removal was applied, and another client has taken the name since.
TEST_F(LostReply, OfARemoveDoesNotRemoveTheNextOwnersNode) {
  const SyncClient client = quiet_client();
  const auto ours = client.create(fixed_node("/lock", "owner"));
  SyncClient other(connect());
  proxy().drop_reply(RequestKind::remove);
  proxy().observe([this](const Observed& seen) {
    if (seen.kind == RequestKind::remove && seen.sort == Message::Sort::reply) proxy().refuse(true);
  });
  const auto removal = client.begin_remove("/lock/owner", ours.stat.czxid);
  expect_fired();
  const auto theirs = other.create(fixed_node("/lock", "owner"));
  proxy().observe(nullptr);
  proxy().refuse(false);
  EXPECT_EQ(removal.part(), Status::ok);
  client.sync("/lock");
  const auto stat = plain().stat(full("/lock/owner"));
  ASSERT_TRUE(stat) << "the next owner's node was removed";
  EXPECT_EQ(stat->czxid, theirs.stat.czxid);
  EXPECT_EQ(other.begin_remove("/lock/owner", theirs.stat.czxid).part(), Status::ok);
}

TEST_F(LostReply, OfReadsIsRepeated) {
  const SyncClient client = quiet_client();
  create_node("/lock/child", "data");
  proxy().drop_reply(RequestKind::get_children);
  EXPECT_THAT(client.list("/lock").children, SizeIs(1));
  proxy().drop_reply(RequestKind::get_data);
  EXPECT_EQ(client.get("/lock/child").data, "data");
  proxy().drop_reply(RequestKind::exists);
  EXPECT_EQ(client.exists("/lock/child").status, Status::ok);
  proxy().drop_reply(RequestKind::sync);
  EXPECT_EQ(client.sync("/lock").status, Status::ok);
  expect_fired();
  remove_node("/lock/child");
}

TEST_F(LostReply, OfASetIsAppliedOnce) {
  const SyncClient client = quiet_client();
  create_node("/lock/counter");
  proxy().drop_reply(RequestKind::set_data);
  const Reply reply = client.set("/lock/counter", "written by us", 0);
  expect_fired();
  EXPECT_EQ(reply.status, Status::ok);
  EXPECT_EQ(reply.stat.version, 1);
  EXPECT_EQ(plain().stat(full("/lock/counter"))->version, 1);
  EXPECT_EQ(client.set("/lock/counter", "too late", 0).status, Status::bad_version);
  remove_node("/lock/counter");
}

TEST_F(LostReply, OfAWatchStillBringsItsEventOnce) {
  const SyncClient client = quiet_client();
  create_node("/lock/watched");
  proxy().drop_reply(RequestKind::get_data);
  const auto watch = client.begin_watch("/lock/watched");
  EXPECT_EQ(watch.reply.part().status, Status::ok);
  expect_fired();
  EXPECT_FALSE(watch.event.ready());
  remove_node("/lock/watched");
  EXPECT_EQ(watch.event.part(), WatchEvent::deleted);
  proxy().drop_reply(RequestKind::get_children);
  const auto children = client.begin_watch_children("/lock");
  EXPECT_EQ(children.reply.part().status, Status::ok);
  create_node("/lock/new");
  EXPECT_EQ(children.event.part(), WatchEvent::children_changed);
  client.sync("/");  // a second event would have come by now
  remove_node("/lock/new");
}

// The repeated unwatch must not remove the watch that another waiter has set by then. The next watch is requested
// right after the loss, before the unwatch is repeated.
TEST_F(LostReply, OfAnUnwatchDoesNotSilenceTheNextWatcher) {
  Connection& connection = connect_by_proxy();
  const SyncClient client(connection);
  const auto session = client.session();
  const auto suspensions = std::make_shared<std::atomic<int>>(0);
  const Subscription states = connection.on_state_change([suspensions](ConnectionState state) {
    if (state == ConnectionState::suspended) ++*suspensions;
  });
  for (int round = 0; round < 5; ++round) {
    create_node("/lock/watched");
    const auto first = client.begin_watch("/lock/watched");
    ASSERT_EQ(first.reply.part().status, Status::ok);
    proxy().drop_reply(RequestKind::remove_watches);
    client.unwatch(first);
    // Without a pause between two looks: the next watch has to begin before the unwatch could be repeated.
    const auto deadline = Clock::now() + kLimit;
    while (*suspensions == round && Clock::now() < deadline) std::this_thread::yield();
    ASSERT_EQ(*suspensions, round + 1);
    const auto second = client.begin_watch("/lock/watched", session);
    ASSERT_EQ(second.reply.part().status, Status::ok);
    // By the time of the second answer the unwatch has been repeated, if it ever is.
    client.sync("/");
    client.sync("/");
    remove_node("/lock/watched");
    ASSERT_TRUE(second.event.wait()) << "the watch was lost in round " << round;
  }
}

TEST_F(LostReply, TwiceInARowOfEachKindIsResolved) {
  const SyncClient client = quiet_client();
  create_node("/lock2/counter");
  const auto twice = [this](RequestKind kind) {
    proxy().drop_reply(kind);
    proxy().drop_reply(kind);
  };
  twice(RequestKind::create);
  const auto node = client.create(fixed_node("/lock", "owner"));
  twice(RequestKind::set_data);
  EXPECT_EQ(client.set("/lock2/counter", "written by us").status, Status::ok);
  expect_only_node(client, node);
  proxy().clear_faults();  // a recovered create needs no second one
  twice(RequestKind::get_children);
  EXPECT_THAT(client.list("/lock").children, SizeIs(1));
  twice(RequestKind::get_data);
  const auto watch = client.begin_watch("/lock/owner");
  EXPECT_EQ(watch.reply.part().status, Status::ok);
  twice(RequestKind::sync);
  EXPECT_EQ(client.sync("/").status, Status::ok);
  twice(RequestKind::remove);
  EXPECT_EQ(client.remove("/lock/owner"), Status::ok);
  EXPECT_EQ(watch.event.part(), WatchEvent::deleted);
  expect_fired();
  EXPECT_THAT(children("/lock"), SizeIs(0));
}

TEST_F(LostReply, OfACreateAndOfTheCleanUpListingAndSyncAfterItIsResolved) {
  const SyncClient client = quiet_client();
  proxy().drop_reply(RequestKind::create);
  proxy().drop_reply(RequestKind::get_children);
  proxy().drop_reply(RequestKind::sync, 2);
  proxy().drop_reply(RequestKind::exists, 2);
  const auto node = client.create(queue_node("/lock"));
  EXPECT_TRUE(node.recovered);
  expect_only_node(client, node);
  proxy().clear_faults();
  EXPECT_EQ(client.remove(node.path), Status::ok);
}

// Nobody waits for the create any more, but its node must not stay.
TEST_F(LostReply, OfACreateThatIsAbandonedMeanwhileCanBeRemovedWhenItIsKnown) {
  const SyncClient client = quiet_client();
  proxy().drop_reply(RequestKind::create);
  proxy().drop_reply(RequestKind::remove);
  const auto session = client.session();
  RemoveAnswer removed;
  client.client().create(session, queue_node("/lock"), [&](Status status, const detail::CreatedNode& node) {
    EXPECT_EQ(status, Status::ok);
    client.client().remove(session, node.path, {}, removed.handler());
  });
  EXPECT_EQ(removed.part(), Status::ok);
  EXPECT_THAT(children("/lock"), SizeIs(0));
}

TEST_F(LostReply, WithTheSessionExpiredMeanwhileTheOldNodeIsNotAdopted) {
  const SyncClient client = quiet_client();
  const auto session = client.session();
  proxy().drop_reply(RequestKind::create);
  proxy().observe([this](const Observed& seen) {
    if (seen.kind == RequestKind::create && seen.sort == Message::Sort::reply) proxy().refuse(true);
  });
  const auto spec = queue_node("/lock");
  const auto lost = client.begin_create(spec);
  expect_fired();
  ASSERT_THAT(children("/lock"), SizeIs(1)) << "it was applied";
  expire(session->id());
  EXPECT_THAT(children("/lock"), SizeIs(0));
  proxy().observe(nullptr);
  proxy().refuse(false);
  EXPECT_EQ(lost.part(), Status::session_over);
  EXPECT_TRUE(session->is_over());
  auto again = queue_node("/lock");
  again.stale_guid = spec.guid;
  const auto node = client.create(again);
  EXPECT_FALSE(node.recovered);
  EXPECT_NE(client.session(), session);
  expect_only_node(client, node);
  EXPECT_EQ(client.remove(node.path), Status::ok);
}

// Our lease is over, but the server has not expired the session yet, so the old node is still there.
TEST_F(LostReply, WithOurLeaseOverMeanwhileTheOldNodeIsRemovedAndANewOneMade) {
  Connection& connection = connect_by_proxy(4s);
  create_node("/lock");
  const SyncClient client(connection);
  StateLog log(connection);
  proxy().hold_reply(RequestKind::create);
  const auto spec = queue_node("/lock");
  const auto lost = client.begin_create(spec);
  expect_fired();
  proxy().black_hole();
  EXPECT_EQ(lost.part(), Status::session_over);
  ASSERT_THAT(children("/lock"), SizeIs(1)) << "the server should not have expired the session yet";
  proxy().heal();
  ASSERT_TRUE(log.wait_for(ConnectionState::connected));
  auto again = queue_node("/lock");
  again.stale_guid = spec.guid;
  const auto node = client.create(again);
  expect_only_node(client, node);
  EXPECT_EQ(client.remove(node.path), Status::ok);
}

}  // namespace
}  // namespace zkrecipes::testing
