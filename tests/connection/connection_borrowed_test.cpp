// SPDX-License-Identifier: Apache-2.0
// A zhandle_t that belongs to the program.
#include <atomic>
#include <functional>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fixture.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::Status;
using State = ConnectionState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The paths that a borrowed handle sees are without chroot, so tests give full ones.
class BorrowedHandle : public ControlledServerTest {
 protected:
  /// A program of its own, with a handle through the proxy.
  std::unique_ptr<PlainClient> make_program(std::chrono::milliseconds session_timeout = 20s) {
    plain();
    return std::make_unique<PlainClient>(proxy().address(), session_timeout);
  }
  static std::unique_ptr<Connection> borrow(PlainClient& program) {
    auto connection = std::make_unique<Connection>(program.handle());
    if (!connection->wait_until_connected(kLimit)) throw std::runtime_error("the borrowed handle is not connected");
    return connection;
  }
  static std::vector<int> session_states(const PlainClient& program) {
    std::vector<int> states;
    for (const auto& event : program.events())
      if (event.type == ZOO_SESSION_EVENT) states.push_back(event.state);
    return states;
  }
};

TEST_F(BorrowedHandle, IsUsedWithItsSessionAndNeverClosed) {
  const auto program = make_program();
  const auto connection = borrow(*program);
  EXPECT_EQ(connection->session_id(), program->session_id());
  EXPECT_EQ(connection->session_timeout(), 20s);
  EXPECT_THROW(connection->set_servers("127.0.0.1"), std::logic_error) << "they are the program's";
  const SyncClient client(*connection);
  const auto node = client.create(queue_node(full("/lock")));
  EXPECT_EQ(node.stat.ephemeral_owner, program->session_id());
  EXPECT_EQ(client.remove(node.path), Status::ok);
  connection->close();
  EXPECT_EQ(connection->state(), State::closed);
  EXPECT_TRUE(program->is_connected());
  EXPECT_TRUE(program->exists(chroot()));
}

TEST_F(BorrowedHandle, KeepsItsOwnWatcherWhichGetsEveryEvent) {
  const auto program = make_program();
  const auto connection = borrow(*program);
  StateLog log(*connection);
  // Until its first heartbeat a borrowed handle is only polled, and could miss a short outage.
  ASSERT_TRUE(wait_for([this] { return server_watches() > 0; }));
  create_node("/watched");
  program->stat(full("/watched"), true);
  for (std::size_t n = 1; n <= 2; ++n) {
    lose_connection();
    ASSERT_TRUE(wait_for([&] { return log.states().size() == 2 * n; }));
  }
  plain().set(full("/watched"), "changed");
  EXPECT_TRUE(wait_for([&] { return program->events().size() == 6; }));
  EXPECT_THAT(session_states(*program), ElementsAre(ZOO_CONNECTED_STATE, ZOO_CONNECTING_STATE, ZOO_CONNECTED_STATE,
                                                    ZOO_CONNECTING_STATE, ZOO_CONNECTED_STATE));
  EXPECT_EQ(program->events().back().type, ZOO_CHANGED_EVENT);
  EXPECT_THAT(log.states(), ElementsAre(State::suspended, State::connected, State::suspended, State::connected));
}

TEST_F(BorrowedHandle, WatchesOfTheProgramAndOursOnOneNodeDoNotDisturbEachOther) {
  const auto program = make_program();
  const auto connection = borrow(*program);
  const SyncClient client(*connection);
  create_node("/watched");
  program->stat(full("/watched"), true);
  const auto unwatched = client.begin_watch(full("/watched"));
  const auto watch = client.begin_watch(full("/watched"));
  EXPECT_EQ(watch.reply.part().status, Status::ok);
  client.unwatch(unwatched);
  plain().set(full("/watched"), "changed");
  EXPECT_TRUE(watch.event.wait());
  EXPECT_TRUE(wait_for([&] { return program->events().back().type == ZOO_CHANGED_EVENT; }));
  EXPECT_FALSE(unwatched.event.ready());
  const auto last = client.begin_watch(full("/watched"));
  EXPECT_EQ(last.reply.part().status, Status::ok);
  program->stat(full("/watched"), true);
  client.unwatch(last);
  client.sync("/");
  plain().set(full("/watched"), "changed again");
  EXPECT_TRUE(wait_for([&] { return program->events().size() == 3; })) << "our unwatch took the program's watch";
}

TEST_F(BorrowedHandle, NodesAreGoneWhenTheConnectionIsClosed) {
  const auto program = make_program();
  auto connection = borrow(*program);
  const SyncClient client(*connection);
  create_node("/lock/foreign");
  client.create(queue_node(full("/lock")));
  client.create(fixed_node(full("/lock"), "owner"));
  ASSERT_THAT(children("/lock"), SizeIs(3));
  connection.reset();
  EXPECT_THAT(children("/lock"), ElementsAre("foreign"));
  EXPECT_TRUE(program->is_connected());
}

TEST_F(BorrowedHandle, NodeOfACreateInFlightIsGoneWhenTheConnectionIsClosed) {
  const auto program = make_program();
  auto connection = borrow(*program);
  const SyncClient client(*connection);
  create_node("/lock");
  proxy().hold_reply(RequestKind::create);
  const auto queued = client.begin_create(queue_node(full("/lock")));
  const auto fixed = client.begin_create(fixed_node(full("/lock"), "owner"));
  ASSERT_TRUE(wait_for_children("/lock", 2));
  const auto closing = std::async(std::launch::async, [&] { connection->close(); });
  EXPECT_EQ(queued.part(), Status::closed);
  EXPECT_EQ(fixed.part(), Status::closed);
  proxy().release_held();
  closing.wait();
  EXPECT_TRUE(wait_for_children("/lock", 0)) << "a create in flight left its node behind";
}

TEST_F(BorrowedHandle, FixedNameOfAnotherOwnerIsLeftAlone) {
  const auto program = make_program();
  auto connection = borrow(*program);
  const SyncClient client(*connection);
  const SyncClient other(connect());
  client.create(fixed_node(full("/lock"), "owner"));
  remove_node("/lock/owner");
  const auto theirs = other.create(fixed_node("/lock", "owner"));
  proxy().hold_reply(RequestKind::create);
  const auto doubtful = client.begin_create(fixed_node(full("/lock"), "owner"));
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  const auto closing = std::async(std::launch::async, [&] { connection->close(); });
  EXPECT_EQ(doubtful.part(), Status::closed);
  proxy().release_held();
  closing.wait();
  const auto stat = plain().stat(full("/lock/owner"));
  ASSERT_TRUE(stat) << "another client's node was removed";
  EXPECT_EQ(stat->czxid, theirs.stat.czxid);
  EXPECT_EQ(other.remove("/lock/owner"), Status::ok);
}

// The lease is over after three quarters of the timeout, the session is not: our nodes are removed, the session stays.
TEST_F(BorrowedHandle, LeaseThatIsOverWhileTheSessionLivesOnTakesItsNodesWithIt) {
  const auto program = make_program(4s);
  const auto connection = borrow(*program);
  const SyncClient client(*connection);
  StateLog log(*connection);
  const auto old = client.session();
  create_node("/lock");
  client.create(queue_node(full("/lock")));
  proxy().drop_reply(RequestKind::create);
  proxy().observe([this](const Observed& seen) {
    if (seen.kind == RequestKind::create && seen.sort == Message::Sort::reply) proxy().refuse(true);
  });
  const auto lost = client.begin_create(queue_node(full("/lock")), old);
  const auto stuck = client.begin_create(fixed_node(full("/lock"), "owner"), old);
  EXPECT_EQ(lost.part(), Status::session_over);
  EXPECT_EQ(stuck.part(), Status::session_over);
  EXPECT_TRUE(old->is_over());
  EXPECT_FALSE(children("/lock").empty()) << "the server has expired the session too soon for this test";
  proxy().observe(nullptr);
  proxy().refuse(false);
  ASSERT_TRUE(log.wait_for({State::suspended, State::lost, State::connected}));
  EXPECT_EQ(connection->session_id(), program->session_id());
  EXPECT_NE(client.session(), old);
  EXPECT_TRUE(wait_for_children("/lock", 0)) << "nodes of the lost lease are left in a living session";
}

TEST_F(BorrowedHandle, ExpiredSessionClosesTheConnectionWithAReason) {
  const auto program = make_program();
  const auto connection = borrow(*program);
  StateLog log(*connection);
  const SyncClient client(*connection);
  const auto watch = client.begin_watch("/");
  expire(program->session_id());
  EXPECT_TRUE(log.wait_for(State::closed));
  try {
    connection->wait_until_connected(1s);
    FAIL() << "still usable";
  } catch (const ConnectionClosed& closed) {
    EXPECT_THAT(closed.what(), HasSubstr("make a new handle"));
  }
  EXPECT_TRUE(wait_for([&] { return session_states(*program).back() == ZOO_EXPIRED_SESSION_STATE; }));
}

TEST_F(BorrowedHandle, MayBeBorrowedTwiceAndGivenBackTwice) {
  const auto program = make_program();
  auto first = borrow(*program);
  const auto second = borrow(*program);
  const SyncClient client(*second);
  const auto watch = client.begin_watch(chroot());
  EXPECT_EQ(watch.reply.part().status, Status::ok);
  SyncClient(*first).create(queue_node(full("/lock")));
  const auto kept = client.create(queue_node(full("/lock")));
  first.reset();
  EXPECT_THAT(children("/lock"), SizeIs(1));
  EXPECT_EQ(client.remove(kept.path), Status::ok);
  plain().set(chroot(), "changed");
  EXPECT_TRUE(watch.event.wait());
}

/// Makes blocking calls inside a callback of the program's own handle; `refused` counts those that throw.
struct BlockingCalls {
  Connection& connection;
  FairMutex& lock;
  std::atomic<int> refused{0};
  Answer<> done;

  void make() {
    const std::vector<std::function<void()>> calls{
        [this] { static_cast<void>(lock.acquire()); },
        [this] { static_cast<void>(lock.try_acquire_for(1s)); },
        [this] { lock.lock(); },
        [this] { connection.wait_until_connected(1s); },
        [this] { static_cast<void>(contenders(connection, "/")); },
    };
    for (const auto& call : calls) {
      try {
        call();
      } catch (const std::logic_error&) {
        ++refused;
      }
    }
    done.handler()();
  }
};

TEST_F(BorrowedHandle, BlockingCallsInTheProgramsWatcherAreRefused) {
  const auto program = make_program();
  const auto connection = borrow(*program);
  FairMutex lock(*connection, full("/lock"));
  create_node("/watched");
  BlockingCalls inside{*connection, lock, {}, {}};
  Stat stat{};
  ASSERT_EQ(zoo_wexists(
                program->handle(), full("/watched").c_str(),
                [](zhandle_t*, int type, int, const char*, void* context) {
                  if (type == ZOO_CHANGED_EVENT) static_cast<BlockingCalls*>(context)->make();
                },
                &inside, &stat),
            ZOK);
  plain().set(full("/watched"), "changed");
  ASSERT_TRUE(inside.done.wait());
  EXPECT_EQ(inside.refused, 5);
  EXPECT_TRUE(lock.acquire().is_valid()) << "on a thread of the program's it may block";
}

TEST_F(BorrowedHandle, BlockingCallsInTheProgramsCompletionAreRefused) {
  const auto program = make_program();
  const auto connection = borrow(*program);
  FairMutex lock(*connection, full("/lock"));
  BlockingCalls inside{*connection, lock, {}, {}};
  ASSERT_EQ(zoo_aexists(
                program->handle(), "/", 0,
                [](int, const Stat*, const void* context) {
                  static_cast<BlockingCalls*>(const_cast<void*>(context))->make();
                },
                &inside),
            ZOK);
  ASSERT_TRUE(inside.done.wait());
  EXPECT_EQ(inside.refused, 5);
}

TEST_F(BorrowedHandle, NullIsRefused) {
  EXPECT_THROW(Connection(static_cast<zhandle_t*>(nullptr)), std::invalid_argument);
}

TEST_F(BorrowedHandle, OurWatchesLeaveItWhenTheConnectionIsClosed) {
  const auto program = make_program();
  const int before = server_watches();
  auto connection = borrow(*program);
  Connection& rival = connect();
  FairMutex theirs(rival, "/lock");
  Hold hold = theirs.acquire();
  FairMutex lock(*connection, full("/lock"));
  std::vector<PendingHold> waiting;
  waiting.push_back(lock.acquire_async());
  waiting.push_back(lock.acquire_async());
  ASSERT_TRUE(wait_for([&] { return load_of(*connection).watches == 2; }));
  ASSERT_TRUE(wait_for([&] { return server_watches() >= before + 2; }));
  connection->close();
  EXPECT_TRUE(program->is_connected());
  // The C client cannot take a single watcher away from the server, only from the handle: the server is rid of it at
  // the next reconnect, when the handle sets again what it has.
  program->stat("/");  // answers come in order
  const long connections = proxy().counts().connections;
  lose_connection();
  ASSERT_TRUE(wait_for([&] { return proxy().counts().connections > connections && program->is_connected(); }));
  program->stat("/");
  EXPECT_TRUE(wait_for([&] { return server_watches() == before; })) << server_watches() << " watches";
  waiting.clear();
  hold.release();
}

TEST_F(BorrowedHandle, TheLastOwnerOfTheConnectionMayEndOnTheThreadOfTheHandle) {
  const auto program = make_program();
  std::shared_ptr<Connection> connection = borrow(*program);
  std::promise<void> gone;
  struct Service {
    ~Service() {
      connection.reset();
      gone.set_value();
    }
    std::shared_ptr<Connection> connection;
    std::promise<void>& gone;
  };
  LockOptions options;
  options.on_revoke = [service = std::shared_ptr<Service>(new Service{connection, gone})](const std::string&) {};
  auto lock = std::make_unique<FairMutex>(*connection, full("/lock"), options);
  options.on_revoke = nullptr;
  PendingHold pending = lock->acquire_async();
  lock.reset();
  connection.reset();
  pending = PendingHold();  // the requests that are under way are the last owners now
  EXPECT_EQ(gone.get_future().wait_for(kLimit), std::future_status::ready);
  EXPECT_TRUE(program->is_connected());
  EXPECT_TRUE(wait_for_children("/lock", 0));
}

}  // namespace
}  // namespace zkrecipes::testing
