// SPDX-License-Identifier: Apache-2.0
// A hundred thousand requests; and close() while requests are in flight, in every state.
#include <atomic>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <thread>

#include "tests/support/fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::CreatedNode;
using detail::Reply;
using detail::Status;
using State = ConnectionState;

long resident_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmRSS:", 0) == 0) return std::stol(line.substr(6));
  return 0;
}

class Load : public ControlledServerTest {};

TEST_F(Load, HundredThousandCreatesAndRemovesCompleteOnceEachInFlatMemory) {
  constexpr int kTotal = 100'000;
  constexpr int kBatch = 5'000;
  const SyncClient client(connect());
  const auto session = client.session();
  create_node("/lock");
  std::atomic<int> created{0};
  std::atomic<int> removed{0};
  std::atomic<int> failed{0};
  long after_warm_up = 0;
  const auto spec = queue_node("/lock");
  for (int done = 0; done < kTotal; done += kBatch) {
    for (int n = 0; n < kBatch; ++n)
      client.client().create(session, spec, [&](Status status, const CreatedNode& node) {
        ++created;
        if (status != Status::ok) {
          ++failed;
          return;
        }
        client.client().remove(session, node.path, {}, [&](Status removal) {
          if (removal != Status::ok) ++failed;
          ++removed;
        });
      });
    ASSERT_TRUE(wait_for([&] { return removed.load() == done + kBatch; }, 120s)) << removed.load();
    if (done + kBatch == kTotal / 4) after_warm_up = resident_kb();
  }
  EXPECT_EQ(created.load(), kTotal);
  EXPECT_EQ(removed.load(), kTotal);
  EXPECT_EQ(failed.load(), 0);
  const long grown = resident_kb() - after_warm_up;
  std::cout << kTotal << " creates and removes: memory grew by " << grown << " kB after the first quarter\n";
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(grown, 8'000);
#endif
}

// More at once than may be in flight: the rest waits its turn.
TEST_F(Load, MoreRequestsThanMayBeInFlightAreAllAnsweredInOrder) {
  constexpr int kTotal = 25'000;
  const SyncClient client(connect());
  const auto session = client.session();
  std::atomic<int> answered{0};
  std::atomic<int> out_of_order{0};
  for (int n = 0; n < kTotal; ++n)
    client.client().exists(session, "/", [&, n](const Reply& reply) {
      if (answered++ != n || reply.status != Status::ok) ++out_of_order;
    });
  EXPECT_TRUE(wait_for([&] { return answered.load() == kTotal; }, 60s)) << answered.load();
  EXPECT_EQ(out_of_order.load(), 0);
}

class Closing : public ControlledServerTest {
 protected:
  /// Begins some of everything, closes while it is under way, and expects each to have been completed once.
  void close_in_the_middle(Connection& connection, const std::function<void()>& meanwhile = {}) {
    const auto client = client_of(connection);
    const auto session = client->current_session();
    constexpr int kEach = 50;
    std::vector<CreateAnswer> creates(kEach);
    std::vector<RemoveAnswer> removes(kEach);
    std::vector<ReplyAnswer> replies(5 * kEach);
    std::vector<Answer<Status, detail::SessionPtr>> sessions(kEach);
    auto reply = replies.begin();
    for (int n = 0; n < kEach; ++n) {
      const auto i = static_cast<std::size_t>(n);
      client->create(session, queue_node("/lock"), creates[i].handler());
      client->remove(session, "/lock/none", 7, removes[i].handler());
      client->list(session, "/", (reply++)->handler());
      client->sync(session, "/", (reply++)->handler());
      client->set(session, "/none", "x", 3, (reply++)->handler());
      client->watch_node(
          session, "/", [](detail::WatchEvent) {}, (reply++)->handler());
      client->watch_children(
          session, "/", [](detail::WatchEvent) {}, (reply++)->handler());
      client->await_session(sessions[i].handler());
    }
    if (meanwhile) meanwhile();
    connection.close();
    const auto final_answer = [](Status status) { EXPECT_NE(status, Status::connection_loss); };
    for (const auto& each : creates) final_answer(each.part<0>(0ms));
    for (const auto& each : removes) final_answer(each.part<0>(0ms));
    for (const auto& each : replies) final_answer(each.part<0>(0ms).status);
    for (const auto& each : sessions) final_answer(each.part<0>(kLimit));
    EXPECT_EQ(load_of(connection).requests, 0u);
    EXPECT_EQ(load_of(connection).watches, 0u);
    EXPECT_EQ(connection.state(), State::closed);
    // And afterwards, too.
    ReplyAnswer late;
    client->list(session, "/", late.handler());
    EXPECT_EQ(late.part().status, Status::closed);
  }
};

TEST_F(Closing, WhileConnectedCompletesEverythingOnce) {
  for (int round = 0; round < 20; ++round) {
    Connection& connection = connect_by_proxy();
    close_in_the_middle(connection);
    disconnect(connection);
  }
}

TEST_F(Closing, WhileRepliesAreHeldBackCompletesEverythingOnce) {
  proxy().hold_reply(RequestKind::get_children);
  close_in_the_middle(connect_by_proxy(), [this] { EXPECT_TRUE(proxy().wait_until_fired(kLimit)); });
}

TEST_F(Closing, WhileTheConnectionIsBeingLostCompletesEverythingOnce) {
  for (int round = 0; round < 10; ++round) {
    Connection& connection = connect_by_proxy(2s);  // a session that nobody could close must time out
    close_in_the_middle(connection, [this] { lose_connection(); });
    disconnect(connection);
  }
}

TEST_F(Closing, WhileSuspendedCompletesEverythingOnce) {
  Connection& connection = connect_by_proxy();
  proxy().refuse(true);
  ASSERT_TRUE(wait_for_state(connection, State::suspended));
  close_in_the_middle(connection);
}

TEST_F(Closing, WhileConnectingCompletesEverythingOnce) {
  proxy().refuse(true);
  close_in_the_middle(begin_connect(options_by_proxy()));
}

TEST_F(Closing, WhileLostCompletesEverythingOnce) {
  Connection& connection = connect_by_proxy(2s);
  proxy().refuse(true);
  ASSERT_TRUE(wait_for_state(connection, State::lost));
  close_in_the_middle(connection);
}

TEST_F(Closing, WhileTheSessionExpiresCompletesEverythingOnce) {
  for (int round = 0; round < 20; ++round) {
    Connection& connection = connect();
    std::thread expiry;
    close_in_the_middle(connection, [&] {
      expiry = std::thread([this, id = connection.session_id()] {
        try {
          expire(id);
        } catch (const std::runtime_error&) {
          // closed first
        }
      });
    });
    expiry.join();
    disconnect(connection);
  }
}

TEST_F(Closing, OnABlackHoleTakesSecondsAtMost) {
  Connection& connection = connect_by_proxy();
  proxy().black_hole();
  const auto begin = Clock::now();
  close_in_the_middle(connection);
  EXPECT_LT(Clock::now() - begin, 15s);
}

TEST_F(Closing, BySeveralThreadsReturnsToAllWhenItIsDone) {
  for (int round = 0; round < 10; ++round) {
    Connection& connection = connect();
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n)
      threads.emplace_back([&] {
        connection.close();
        EXPECT_EQ(connection.state(), State::closed);
      });
    for (std::thread& thread : threads) thread.join();
    disconnect(connection);
  }
}

TEST_F(Closing, RightAfterConstructionIsFine) {
  for (int round = 0; round < 50; ++round) {
    Connection connection(options());
    if (round % 2 == 0) connection.close();
  }
}

TEST_F(Closing, ClientThatOutlivesItsConnectionAnswersClosed) {
  std::shared_ptr<detail::Client> client;
  {
    Connection& connection = connect();
    client = client_of(connection);
    disconnect(connection);
  }
  const SyncClient late(client);
  EXPECT_EQ(client->current_session(), nullptr);
  EXPECT_THROW(late.session(), std::runtime_error);
  EXPECT_THROW(client->check_usable(), ConnectionClosed);
  RemoveAnswer removed;
  client->remove(nullptr, "/x", {}, removed.handler());
  EXPECT_EQ(removed.part(), Status::closed);
}

}  // namespace
}  // namespace zkrecipes::testing
