// SPDX-License-Identifier: Apache-2.0
// Bad input, credentials, ACLs, the chroot and the limit on watches.
#include <functional>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

#include "connection/zookeeper_handle.h"
#include "tests/support/fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::Status;
using State = ConnectionState;
using ::testing::HasSubstr;

std::string complaint_about(const std::function<void(ConnectionOptions&)>& spoil) {
  ConnectionOptions options;
  options.servers = "127.0.0.1:1";
  spoil(options);
  try {
    const Connection connection(std::move(options));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(BadInput, EachIsRefusedAtOnceWithWhatWasWrong) {
  using Options = ConnectionOptions;
  EXPECT_EQ(complaint_about([](Options&) {}), "no complaint");
  EXPECT_THAT(complaint_about([](Options& o) { o.servers = ""; }), HasSubstr("it is empty"));
  EXPECT_THAT(complaint_about([](Options& o) { o.servers = "host:99999"; }), HasSubstr("1 to 65535"));
  EXPECT_THAT(complaint_about([](Options& o) { o.servers = "a:1,,b:2"; }), HasSubstr("entry is empty"));
  EXPECT_THAT(complaint_about([](Options& o) { o.servers = "a:1/x//y"; }), HasSubstr("bad chroot"));
  EXPECT_THAT(complaint_about([](Options& o) { o.session_timeout = 0ms; }), HasSubstr("must be positive"));
  EXPECT_THAT(complaint_about([](Options& o) { o.session_timeout = -5s; }), HasSubstr("must be positive"));
  EXPECT_THAT(complaint_about([](Options& o) { o.session_timeout = 20ms; }), HasSubstr("less than 100 ms"));
  EXPECT_THAT(complaint_about([](Options& o) { o.session_timeout = 25h; }), HasSubstr("more than a day"));
  EXPECT_THAT(complaint_about([](Options& o) { o.validity_margin = -1ms; }), HasSubstr("validity_margin"));
  EXPECT_THAT(complaint_about([](Options& o) { o.retry.jitter = 2; }), HasSubstr("jitter"));
  EXPECT_THAT(complaint_about([](Options& o) { o.retry.initial_delay = 0ms; }), HasSubstr("initial_delay"));
  EXPECT_THAT(complaint_about([](Options& o) { o.retry.give_up_after = -1ms; }), HasSubstr("give_up_after"));
  EXPECT_THAT(complaint_about([](Options& o) { o.credentials = {{"", "secret"}}; }), HasSubstr("no scheme"));
  EXPECT_THAT(complaint_about([](Options& o) { o.credentials = {{"digest", "secret"}}; }), HasSubstr("user:password"));
  EXPECT_THAT(complaint_about([](Options& o) { o.acl = Acl::creator_all(); }), HasSubstr("ConnectionOptions::acl"));
  EXPECT_THAT(complaint_about([](Options& o) { o.parent_acl = Acl::creator_all(); }), HasSubstr("parent_acl"));
  EXPECT_THAT(complaint_about([](Options& o) { const Acl taken = std::move(o.parent_acl); }), HasSubstr("moved from"));
  EXPECT_EQ(complaint_about([](Options& o) {
              o.acl = o.parent_acl = Acl::creator_all();
              o.credentials = {{"digest", "user:password"}};
            }),
            "no complaint");
  EXPECT_THAT(complaint_about([](Options& o) { o.identity = "two\nlines"; }), HasSubstr("one line"));
  EXPECT_THAT(complaint_about([](Options& o) { o.identity = "__REVOKE__"; }), HasSubstr("revocation"));
  EXPECT_EQ(complaint_about([](Options& o) { o.identity.assign(64 * 1024, 'x'); }), "no complaint");
  EXPECT_THAT(complaint_about([](Options& o) { o.identity.assign(64 * 1024 + 1, 'x'); }), HasSubstr("at most 65536"));
  EXPECT_THROW(Connection{std::string()}, std::invalid_argument);
}

TEST(BadInput, TlsWithoutSupportInTheCClientIsRefused) {
  if (detail::tls_available()) GTEST_SKIP() << "the installed C client has TLS";
  EXPECT_THAT(complaint_about([](ConnectionOptions& o) { o.tls.emplace(); }), HasSubstr("built without it"));
}

TEST(BadInput, NegativeWaitAndEmptyCallbackAreRefused) {
  Connection connection("127.0.0.1:1");
  EXPECT_THROW(connection.wait_until_connected(-1ms), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(connection.on_state_change(nullptr)), std::invalid_argument);
}

TEST(BadInput, AnEndlessWaitForTheConnectionLastsUntilItIsClosed) {
  for (const auto timeout : {std::chrono::milliseconds::max(), std::chrono::milliseconds::max() - 1ms,
                             std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds::max())}) {
    Connection connection("127.0.0.1:1");
    auto waiting = std::async(std::launch::async, [&] { return connection.wait_until_connected(timeout); });
    EXPECT_EQ(waiting.wait_for(200ms), std::future_status::timeout);
    connection.close();
    EXPECT_THROW(waiting.get(), ConnectionClosed);
  }
}

class Access : public ControlledServerTest {
 protected:
  ConnectionOptions options_of(const std::string& user) {
    ConnectionOptions result = options();
    result.credentials = {{"digest", user + ":password"}};
    result.acl = result.parent_acl = Acl::creator_all();
    return result;
  }
};

TEST_F(Access, WithoutPermissionIsAFinalAnswerAtOnce) {
  const SyncClient owner(connect(options_of("owner")));
  const auto node = owner.create(queue_node("/private"));
  const SyncClient stranger(connect(options_of("stranger")));
  EXPECT_EQ(stranger.begin_create(queue_node("/private")).part(), Status::not_authorized);
  EXPECT_EQ(stranger.begin_create(queue_node("/private/deeper/still")).part(), Status::not_authorized);
  EXPECT_EQ(stranger.list("/private").status, Status::not_authorized);
  EXPECT_EQ(stranger.get("/private").status, Status::not_authorized);
  EXPECT_EQ(stranger.set("/private", "x").status, Status::not_authorized);
  EXPECT_EQ(stranger.begin_watch("/private").reply.part().status, Status::not_authorized);
  EXPECT_EQ(stranger.remove(node.path), Status::not_authorized);
  const SyncClient same_user(connect(options_of("owner")));
  EXPECT_EQ(same_user.list("/private").status, Status::ok);
  EXPECT_EQ(owner.remove(node.path), Status::ok);
  EXPECT_EQ(owner.remove("/private"), Status::ok);
}

TEST_F(Access, CredentialsAreSentAgainAfterALossOfConnectionAndOfTheSession) {
  ConnectionOptions by_proxy = options_of("owner");
  by_proxy.servers = proxy().address() + chroot();
  Connection& connection = connect(by_proxy);
  const SyncClient owner(connection);
  const auto first = owner.create(queue_node("/private"));
  lose_connection();
  EXPECT_EQ(owner.remove(first.path), Status::ok);
  StateLog log(connection);
  expire_session(connection);
  ASSERT_TRUE(log.wait_for(State::lost));
  ASSERT_TRUE(wait_for_state(connection, State::connected));
  const auto second = owner.create(queue_node("/private"));
  EXPECT_EQ(owner.remove(second.path), Status::ok);
  EXPECT_EQ(owner.remove("/private"), Status::ok);
}

TEST_F(Access, RefusedCredentialsCloseTheConnectionWithNotAuthorized) {
  ConnectionOptions wrong = options();
  wrong.credentials = {{"no-such-scheme", "secret"}};
  Connection& connection = begin_connect(wrong);
  StateLog log(connection);
  EXPECT_TRUE(log.wait_for(State::closed));
  EXPECT_THROW(connection.wait_until_connected(1s), NotAuthorized);
  EXPECT_THROW(client_of(connection)->check_usable(), NotAuthorized);
}

TEST_F(Access, CreatorAllOnAHandleWithoutCredentialsIsRefusedByTheServerAndNotRetried) {
  ConnectionOptions nobody;
  nobody.acl = Acl::creator_all();
  const PlainClient program(addresses());
  Connection connection(program.handle(), nobody);
  ASSERT_TRUE(connection.wait_until_connected(kLimit));
  EXPECT_EQ(SyncClient(connection).begin_create(queue_node("/lock")).part(), Status::invalid);
}

TEST_F(Access, ParentsAreOpenToOthersUnlessTheirAclSaysOtherwise) {
  ConnectionOptions options = options_of("owner");
  options.parent_acl = Acl();
  const SyncClient owner(connect(options));
  const SyncClient stranger(connect(options_of("stranger")));
  const auto private_node = owner.create(queue_node("/folder/lock"));
  EXPECT_EQ(stranger.get(private_node.path).status, Status::not_authorized);
  EXPECT_EQ(stranger.list("/folder/lock").status, Status::ok);
  const auto beside = stranger.create(queue_node("/folder/lock"));
  const auto elsewhere = stranger.create(queue_node("/folder/other"));
  for (const auto& node : {beside, elsewhere}) EXPECT_EQ(stranger.remove(node.path), Status::ok);
  EXPECT_EQ(owner.remove(private_node.path), Status::ok);
  // The stranger's own folder is closed to the plain client.
  EXPECT_EQ(stranger.remove("/folder/other"), Status::ok);
}

TEST_F(Access, TheAclOfOneNodeIsItsOwn) {
  const SyncClient owner(connect(options_of("owner")));
  const SyncClient stranger(connect(options_of("stranger")));
  auto open = queue_node("/");
  open.acl = std::make_shared<const Acl>();
  const auto node = owner.create(open);
  EXPECT_EQ(stranger.get(node.path).status, Status::ok);
  EXPECT_EQ(owner.remove(node.path), Status::ok);
}

TEST_F(Access, BadPathsAreRefusedAndNotRetried) {
  const SyncClient client(connect());
  EXPECT_EQ(client.exists("/a//b").status, Status::invalid);
  EXPECT_EQ(client.list("/a/").status, Status::invalid);
  create_node("/plain");
  const auto parent = client.create(fixed_node("/", "ephemeral"));
  EXPECT_EQ(client.begin_create(queue_node("/ephemeral")).part(), Status::no_children_for_ephemerals);
  EXPECT_EQ(client.begin_create(queue_node("/ephemeral/below")).part(), Status::no_children_for_ephemerals);
  EXPECT_EQ(client.remove(parent.path), Status::ok);
}

class Chroot : public ControlledServerTest {};

TEST_F(Chroot, IsMadeWhenMissingAndHiddenFromPaths) {
  ConnectionOptions deeper = options();
  deeper.servers += "/not/yet/there";
  const SyncClient client(connect(deeper));
  EXPECT_EQ(client.list("/").status, Status::no_node);
  const auto node = client.create(queue_node("/lock"));
  EXPECT_EQ(node.path.find("/lock/"), 0u);
  EXPECT_EQ(children("/not/yet/there/lock").size(), 1u);
  const auto at_root = client.create(queue_node("/"));
  EXPECT_EQ(at_root.path.find('/', 1), std::string::npos);
  EXPECT_EQ(client.list("/").children.size(), 2u);
  const auto watch = client.begin_watch_children("/");
  EXPECT_EQ(watch.reply.part().status, Status::ok);
  EXPECT_EQ(client.remove(at_root.path), Status::ok);
  EXPECT_TRUE(watch.event.wait()) << "events find their way back without the chroot";
  EXPECT_EQ(client.remove(node.path), Status::ok);
}

TEST_F(Chroot, ThatSomebodyRemovesIsMadeAgain) {
  const SyncClient client(connect());
  EXPECT_EQ(client.remove(client.create(queue_node("/lock")).path), Status::ok);
  plain().remove_all(chroot());
  const auto node = client.create(queue_node("/lock"));
  EXPECT_EQ(client.remove(node.path), Status::ok);
}

class Watches : public ControlledServerTest {};

TEST_F(Watches, StayWithinWhatOnePacketCanSetAgainAfterAReconnect) {
  Connection& connection = connect_by_proxy();
  const SyncClient client(connection);
  const std::string long_name = "/" + std::string(900, 'x');
  std::vector<SyncClient::Watch> watches;
  std::vector<std::string> paths;
  Status status = Status::ok;
  for (int n = 0; n < 1100 && status == Status::ok; ++n) {
    const std::string path = long_name + std::to_string(n);
    create_node(path);
    watches.push_back(client.begin_watch(path));
    status = watches.back().reply.part().status;
  }
  EXPECT_EQ(status, Status::too_many_watches);
  EXPECT_EQ(watches.back().id, 0u);
  EXPECT_GT(watches.size(), 900u);
  StateLog log(connection);
  const auto session = connection.session_id();
  lose_connection();
  ASSERT_TRUE(log.wait_for({State::suspended, State::connected}));
  EXPECT_EQ(client.sync("/").status, Status::ok);
  EXPECT_EQ(connection.session_id(), session) << "the packet that sets the watches again was refused";
  plain().set(full(long_name + "0"), "changed");
  EXPECT_TRUE(watches.front().event.wait());
  for (const auto& watch : watches) client.unwatch(watch);
  EXPECT_TRUE(wait_for([&] { return server_watches() == 0; }));
}

TEST_F(Watches, OfManyWaitersOnOneNodeAreOneForTheServer) {
  Connection& connection = connect();
  const SyncClient client(connection);
  create_node("/watched");
  const int before = server_watches();
  std::vector<SyncClient::Watch> watches;
  for (int n = 0; n < 1000; ++n) watches.push_back(client.begin_watch("/watched"));
  for (const auto& watch : watches) ASSERT_EQ(watch.reply.part().status, Status::ok);
  EXPECT_EQ(server_watches(), before + 1);
  for (std::size_t n = 500; n < watches.size(); ++n) client.unwatch(watches[n]);
  EXPECT_EQ(load_of(connection).watches, 500u);
  plain().set(full("/watched"), "changed");
  for (std::size_t n = 0; n < 500; ++n) EXPECT_TRUE(watches[n].event.wait());
  for (std::size_t n = 500; n < watches.size(); ++n) EXPECT_FALSE(watches[n].event.ready());
  EXPECT_EQ(load_of(connection).watches, 0u);
}

}  // namespace
}  // namespace zkrecipes::testing
