// SPDX-License-Identifier: Apache-2.0
// The counts and the trace of the proxy, and its use from several threads.
#include <chrono>
#include <cstddef>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <vector>
#include <zookeeper/zookeeper.h>

#include "tests/support/bare_socket.h"
#include "tests/support/fault_proxy_fixture.h"

namespace zkrecipes::testing {
namespace {

using std::chrono::steady_clock;

TEST_F(FaultProxyTest, Counts_TellOperationsFromTheUpkeepOfTheSession) {
  EXPECT_EQ(client->create(node).get(), ZOK);
  EXPECT_EQ(client->list(root).get(), ZOK);
  EXPECT_EQ(client->exists(node).get(), ZOK);
  {
    FutureClient another(proxy.address());
    EXPECT_EQ(another.exists(node).get(), ZOK);
  }
  ASSERT_TRUE(proxy.wait_until_open_connections(1, kLimit));
  const FaultProxy::Counts counts = proxy.counts();
  EXPECT_EQ(counts.of(RequestKind::create), 1);
  EXPECT_EQ(counts.of(RequestKind::get_children), 1);
  EXPECT_EQ(counts.of(RequestKind::exists), 2);
  EXPECT_EQ(counts.of(RequestKind::connect), 1);
  EXPECT_EQ(counts.of(RequestKind::close_session), 1);
  EXPECT_EQ(counts.operations(), 4);
  EXPECT_EQ(counts.requests_total(), 6 + counts.of(RequestKind::ping));
  EXPECT_EQ(counts.replies, counts.requests_total());
  EXPECT_EQ(counts.connections, 1);
  EXPECT_GT(counts.bytes_to_server, 100);
  EXPECT_GT(counts.bytes_to_client, 100);
  proxy.reset_counts();
  EXPECT_EQ(proxy.counts().requests_total(), 0);
  EXPECT_TRUE(proxy.trace().empty());
}

TEST_F(FaultProxyTest, Counts_WatchEventsApart) {
  std::promise<void> seen;
  const auto watcher = [](zhandle_t*, int type, int, const char*, void* context) {
    if (type == ZOO_CREATED_EVENT) static_cast<std::promise<void>*>(context)->set_value();
  };
  EXPECT_EQ(client->exists(node, watcher, &seen).get(), ZNONODE);
  EXPECT_EQ(direct.create(node).get(), ZOK);
  ASSERT_EQ(seen.get_future().wait_for(kLimit), std::future_status::ready);
  EXPECT_EQ(proxy.counts().watch_events, 1);
  EXPECT_EQ(proxy.trace().back().sort, Message::Sort::watch_event);
  EXPECT_EQ(proxy.trace().back().path, node);
}

TEST_F(FaultProxyTest, TheTraceShowsRequestsThatWereSentBeforeTheFirstReply) {
  proxy.hold_reply(RequestKind::create);
  std::vector<Observed> observed;  // written by the proxy's thread until observe() with nothing has returned
  proxy.observe([&](const Observed& what) { observed.push_back(what); });
  std::future<int> created = client->create(node);
  std::future<int> listed = client->list(root);
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.replies == 2; }, kLimit));
  proxy.release_held();
  EXPECT_EQ(created.get(), ZOK);
  EXPECT_EQ(listed.get(), ZOK);
  proxy.observe(nullptr);

  ASSERT_EQ(observed.size(), 4U);
  EXPECT_EQ(proxy.trace().size(), 4U);
  long place = 0;
  for (const Observed& what : observed) {
    EXPECT_EQ(what.connection, 1);
    EXPECT_LE(what.time, steady_clock::now());
    EXPECT_EQ(what.path, what.kind == RequestKind::create ? node : root);
    EXPECT_EQ(what.xid, proxy.trace()[static_cast<std::size_t>(place++)].xid);
  }
  EXPECT_EQ(observed[0].kind, RequestKind::create);
  EXPECT_EQ(observed[0].sort, Message::Sort::request);
}

TEST_F(FaultProxyTest, TheObserverMayCallTheProxy) {
  proxy.observe([this](const Observed& observed) {
    if (observed.sort == Message::Sort::reply && observed.kind == RequestKind::create) {
      proxy.black_hole(Direction::to_server);
      proxy.heal();
      EXPECT_TRUE(proxy.wait_until_fired(kLimit));
      EXPECT_EQ(proxy.open_connections(), 1);
    }
  });
  client->create(node).wait();
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.connections == 1; }, kLimit));
  EXPECT_EQ(client->exists_in_the_end(node), ZOK);
}

TEST_F(FaultProxyTest, CarriesManyConnectionsAtOnce) {
  constexpr int kConnections = 256;
  std::vector<BareSocket> sockets;
  for (int i = 0; i < kConnections; ++i) {
    sockets.push_back(BareSocket::connected_to(proxy.address()));
    sockets.back().send(connect_request());
  }
  for (BareSocket& socket : sockets) {
    EXPECT_EQ(socket.receive(8).size(), 8U);
  }
  EXPECT_EQ(proxy.counts().of(RequestKind::connect), kConnections);
  EXPECT_EQ(proxy.open_connections(), kConnections + 1);
  sockets.clear();
  EXPECT_TRUE(proxy.wait_until_open_connections(1, kLimit));
}

TEST_F(FaultProxyTest, MayBeDestroyedWithRepliesHeldAndDelayed) {
  auto doomed = std::make_unique<FaultProxy>(server->address());
  FutureClient caller(doomed->address());
  ASSERT_EQ(caller.create(node + "1").get(), ZOK);
  doomed->hold_reply(RequestKind::create);
  std::future<int> created = caller.create(node + "2");
  ASSERT_TRUE(doomed->wait_until_fired(kLimit));
  doomed->delay(std::chrono::hours(1));
  std::future<int> listed = caller.list(root);
  doomed.reset();
  EXPECT_EQ(created.get(), ZCONNECTIONLOSS);
  EXPECT_EQ(listed.get(), ZCONNECTIONLOSS);
}

}  // namespace
}  // namespace zkrecipes::testing
