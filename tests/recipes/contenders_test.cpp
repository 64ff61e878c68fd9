// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/contenders.h"

#include "connection/node_path.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class ContendersTest : public RecipeTest {
 protected:
  Connection& connect_as(const std::string& identity) {
    ConnectionOptions own = options();
    own.identity = identity;
    return connect(own);
  }
  static std::vector<std::string> identities(const std::vector<Contender>& line) {
    std::vector<std::string> result;
    for (const Contender& contender : line) result.push_back(contender.identity + (contender.holds ? "!" : ""));
    return result;
  }
  static constexpr auto are = [](auto... names) { return std::vector<std::string>{names...}; };
};

TEST_F(ContendersTest, NobodyAtALock_IsAnEmptyLine) {
  Connection& connection = connect();
  EXPECT_TRUE(contenders(connection, kPath).empty());
  FairMutex(connection, kPath).acquire().release();
  EXPECT_TRUE(contenders(connection, kPath).empty());
  create_node("/config", "no lock");
  EXPECT_TRUE(contenders(connection, "/config").empty());
}

TEST_F(ContendersTest, AMutexQueue_IsListedInOrder) {
  Connection& first = connect_as("first");
  Connection& second = connect_as("second");
  FairMutex a(first, kPath), b(second, kPath);
  const Hold hold = a.acquire();
  const PendingHold pending = b.acquire_async();
  ASSERT_TRUE(wait_for_waiters(second, 1));
  const auto line = contenders(second, kPath);
  ASSERT_EQ(line.size(), 2U);
  EXPECT_EQ(identities(line), are("first!", "second"));
  EXPECT_EQ(line[0].node, hold.node());
  EXPECT_EQ(line[0].token, hold.token());
  EXPECT_EQ(line[0].session, first.session_id());
  EXPECT_EQ(line[0].mode, LockMode::exclusive);
  EXPECT_LT(std::chrono::abs(std::chrono::system_clock::now() - line[0].since), 1min);
  EXPECT_EQ(line[1].session, second.session_id());
  EXPECT_GT(line[1].token, line[0].token);
}

TEST_F(ContendersTest, ASimpleLock_HasItsHolderOnly) {
  Connection& connection = connect_as("holder");
  SimpleLock lock(connection, kPath);
  const Hold hold = lock.acquire();
  const auto line = contenders(connection, kPath);
  EXPECT_EQ(identities(line), are("holder!")) << "without the guid that is stored with it";
  EXPECT_EQ(line.at(0).node, kPath);
}

TEST_F(ContendersTest, AReadWriteLock_TellsReadersFromWriters) {
  Connection& connection = connect_as("me");
  ReadWriteLock lock(connection, kPath);
  const Hold first = lock.acquire_read();
  const Hold second = lock.acquire_read();
  const PendingHold writer = lock.acquire_write_async();
  ASSERT_TRUE(wait_for_waiters(connection, 1));
  const PendingHold reader = lock.acquire_read_async();
  ASSERT_TRUE(wait_for_waiters(connection, 2));
  const auto line = contenders(connection, kPath);
  EXPECT_EQ(identities(line), are("me!", "me!", "me", "me"));
  ASSERT_EQ(line.size(), 4U);
  EXPECT_EQ(line[1].mode, LockMode::read);
  EXPECT_EQ(line[2].mode, LockMode::write);
  EXPECT_EQ(line[3].mode, LockMode::read);
}

TEST_F(ContendersTest, ADowngradedReader_IsShownWithTheTokenOfItsHold) {
  Connection& connection = connect_as("me");
  ReadWriteLock lock(connection, kPath);
  const Hold read = lock.downgrade(lock.acquire_write());
  ASSERT_TRUE(wait_for_nodes(kPath, 1));
  const auto shown = [&] { return contenders(connection, kPath).at(0); };
  EXPECT_EQ(shown().token, read.token());
  EXPECT_EQ(shown().identity, "me");
  EXPECT_EQ(shown().mode, LockMode::read);
  request_revoke(connection, read.node());
  EXPECT_EQ(shown().token, read.token());
}

TEST_F(ContendersTest, ARevokedNode_HasNoIdentityLeft) {
  Connection& connection = connect_as("me");
  SimpleLock simple(connection, "/simple");
  FairMutex fair(connection, "/fair");
  const Hold first = simple.acquire();
  const Hold second = fair.acquire();
  for (const Hold* hold : {&first, &second}) {
    request_revoke(connection, hold->node());
    const auto line = contenders(connection, hold == &first ? "/simple" : "/fair");
    ASSERT_EQ(line.size(), 1U);
    EXPECT_EQ(line[0].identity, "") << "the request is not a name";
    EXPECT_EQ(line[0].token, hold->token());
  }
}

TEST_F(ContendersTest, ASemaphore_ListsPermitsThenTheLine) {
  Connection& holding = connect_as("holding");
  Connection& waiting = connect_as("waiting");
  Semaphore a(holding, kPath, 1), b(waiting, kPath, 1);
  const Hold hold = a.acquire();
  ASSERT_TRUE(wait_for_nodes(kPath, 1));
  const PendingHold pending = b.acquire_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  ASSERT_EQ(children("/lock/leases").size(), 2U) << "the head of the line has made its lease";
  const auto line = contenders(holding, kPath);
  EXPECT_EQ(identities(line), are("holding!", "waiting"));
  for (const Contender& contender : line) EXPECT_EQ(contender.mode, LockMode::permit);
  EXPECT_EQ(holder(waiting, kPath)->token, hold.token());
  EXPECT_EQ(detail::name_of(detail::parent_of(line.at(1).node)), "locks") << "the node with which it stands in the way";
}

TEST_F(ContendersTest, AWaiterForSeveralPermits_IsListedOnceAndCanBeSentBack) {
  Connection& holding = connect_as("holding");
  Connection& waiting = connect_as("waiting");
  Semaphore a(holding, kPath, 3), b(waiting, kPath, 3);
  const Hold hold = a.acquire(2);
  ASSERT_TRUE(wait_for_nodes(kPath, 2));
  PendingHold all = b.acquire_async(3);
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  PendingHold one = b.acquire_async(1);
  ASSERT_TRUE(wait_for_waiters(waiting, 2));
  const auto line = contenders(holding, kPath);
  EXPECT_EQ(identities(line), are("holding!", "holding!", "waiting", "waiting"));
  break_lock(holding, line.at(2).node, line.at(2).token);
  EXPECT_TRUE(get(one).is_valid()) << "the next in line is served";
  EXPECT_FALSE(all.ready());
}

TEST_F(ContendersTest, OfCuratorsLeases_TheNewestOfTheHeadsSessionWaits) {
  Connection& connection = connect();
  create_node("/lock/leases");
  create_node("/lock/locks");
  const std::string leases = full("/lock/leases/_c_"), line = full("/lock/locks/_c_");
  const std::string before = leases + "00000000-0000-4000-8000-000000000001-lease-0000000000";
  const std::string head = line + "10000000-0000-4000-8000-000000000001-lock-0000000001";
  const std::string beside = leases + "20000000-0000-4000-8000-000000000001-lease-0000000001";
  const std::string made_by_head = leases + "30000000-0000-4000-8000-000000000001-lease-0000000002";
  const std::string others = leases + "40000000-0000-4000-8000-000000000001-lease-0000000003";
  plain().create(before, "before", ZOO_EPHEMERAL);
  plain().create(head, "head", ZOO_EPHEMERAL);
  // A thread of the same program that was ahead and was granted its permit after the head had joined the line.
  plain().create(beside, "beside", ZOO_EPHEMERAL);
  EXPECT_EQ(identities(contenders(connection, kPath)), are("before!", "head")) << "as long as the head has no lease";
  plain().create(made_by_head, "made by head", ZOO_EPHEMERAL);
  PlainClient other(addresses());
  other.create(others, "others", ZOO_EPHEMERAL);
  EXPECT_EQ(identities(contenders(connection, kPath)), are("before!", "beside!", "others!", "head"));
  EXPECT_EQ(holder(connection, kPath)->identity, "before");
  const auto found = find_locks(connection, kPath).locks;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].holders, 3U);
  EXPECT_EQ(found[0].waiters, 1U);
  for (const std::string& node : {before, head, beside, made_by_head, others}) plain().remove(node);
}

TEST_F(ContendersTest, ALongLine_IsReadWithManyRequestsAtATime) {
  Connection& asking = connect_by_proxy();
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  std::vector<PendingHold> waiting;
  for (int n = 0; n < 30; ++n) waiting.push_back(mutex.acquire_async());
  ASSERT_TRUE(wait_for_waiters(connection, 30));
  const auto before = proxy().counts().of(RequestKind::get_data);
  proxy().hold_reply(RequestKind::get_data);
  std::vector<Contender> shown;
  Background looks([&] { shown = contenders(asking, kPath); });
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  EXPECT_TRUE(wait_for([&] { return proxy().counts().of(RequestKind::get_data) - before == 31; }))
      << "the others are asked for before the first has answered";
  proxy().release_held();
  looks.join();
  ASSERT_EQ(shown.size(), 31U);
  EXPECT_EQ(shown[0].node, hold.node());
  for (std::size_t n = 1; n < shown.size(); ++n) EXPECT_GT(shown[n].token, shown[n - 1].token);
}

TEST_F(ContendersTest, ALongLineAndALostSession_AreReadInTheNextSession) {
  Connection& asking = connect_by_proxy();
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  std::vector<PendingHold> waiting;
  for (int n = 0; n < 300; ++n) waiting.push_back(mutex.acquire_async());
  ASSERT_TRUE(wait_for_waiters(connection, 300));
  proxy().hold_reply(RequestKind::get_data);
  std::vector<Contender> shown;
  Background looks([&] { shown = contenders(asking, kPath); });
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  expire_session(asking);
  lose_connection();
  looks.join();
  EXPECT_EQ(shown.size(), 301U);
}

TEST_F(ContendersTest, AListing_SaysWhatElseIsThere) {
  Connection& connection = connect_as("me");
  EXPECT_FALSE(list_lock(connection, kPath).exists);
  create_node("/lock/0f8fad5bd9cb469fa16570867728950e__rlock__0000000000");
  create_node("/lock/below");
  LockListing listing = list_lock(connection, kPath);
  EXPECT_TRUE(listing.exists);
  EXPECT_TRUE(listing.contenders.empty());
  EXPECT_EQ(listing.not_understood, 2U);
  Semaphore semaphore(connection, "/semaphore", 1);
  const Hold hold = semaphore.acquire();
  listing = list_lock(connection, "/semaphore", std::chrono::system_clock::now() + kLimit);
  EXPECT_EQ(identities(listing.contenders).front(), "me!");
  EXPECT_EQ(listing.not_understood, 0U);
}

TEST_F(ContendersTest, TheOwnerOfANode_IsKnown) {
  Connection& connection = connect_as("me");
  SimpleLock simple(connection, "/simple");
  FairMutex fair(connection, kPath);
  const Hold one = simple.acquire(), two = fair.acquire();
  for (const Hold* hold : {&one, &two}) {
    const Contender owner = owner_of(connection, hold->node());
    EXPECT_EQ(owner.identity, "me");
    EXPECT_EQ(owner.session, connection.session_id());
    EXPECT_EQ(owner.token, hold->token());
    EXPECT_FALSE(owner.asked_to_release);
    request_revoke(connection, hold->node());
    EXPECT_TRUE(owner_of(connection, hold->node(), std::chrono::system_clock::now() + kLimit).asked_to_release);
  }
  EXPECT_TRUE(contenders(connection, kPath).at(0).asked_to_release);
  create_node("/config", "data");
  EXPECT_EQ(error_of([&] { owner_of(connection, "/config"); }), ErrorCode::unusable_path);
  EXPECT_EQ(error_of([&] { owner_of(connection, "/no/such"); }), ErrorCode::not_held);
}

TEST_F(ContendersTest, FoldersWithTheNamesOfASemaphores_HideNobody) {
  Connection& connection = connect_as("me");
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  create_node(std::string(kPath) + "/locks/door", "closed");
  EXPECT_EQ(identities(contenders(connection, kPath)), are("me!"));
  EXPECT_EQ(holder(connection, kPath)->token, hold.token());
  create_node(std::string(kPath) + "/leases/flat", "let");
  EXPECT_EQ(identities(contenders(connection, kPath)), are("me!"));
  EXPECT_EQ(holder(connection, kPath)->token, hold.token());
}

TEST_F(ContendersTest, MutexesCalledAsTheFoldersOfASemaphore_AreNotListedOneLevelUp) {
  Connection& connection = connect_as("me");
  FairMutex locks(connection, "/app/locks"), leases(connection, "/app/leases");
  const Hold one = locks.acquire(), two = leases.acquire();
  EXPECT_TRUE(contenders(connection, "/app").empty());
  EXPECT_FALSE(holder(connection, "/app"));
  EXPECT_EQ(identities(contenders(connection, "/app/locks")), are("me!"));
}

TEST_F(ContendersTest, Peers_StandInLineToo) {
  Connection& connection = connect_as("me");
  create_node(std::string(kPath) + "/0f8fad5bd9cb469fa16570867728950e-lock-0000000000", "kazoo");
  FairMutex mutex(connection, kPath);
  PendingHold pending = mutex.acquire_async();
  ASSERT_TRUE(wait_for_waiters(connection, 1));
  EXPECT_EQ(identities(contenders(connection, kPath)), are("kazoo!", "me"));
  remove_node(std::string(kPath) + "/0f8fad5bd9cb469fa16570867728950e-lock-0000000000");
  EXPECT_TRUE(get(pending).is_valid());
}

TEST_F(ContendersTest, TheHolder_IsTheFirstInLine) {
  Connection& connection = connect_as("me");
  EXPECT_FALSE(holder(connection, kPath));
  create_node("/config", "no lock");
  EXPECT_FALSE(holder(connection, "/config"));
  FairMutex mutex(connection, kPath);
  Hold hold = mutex.acquire();
  PendingHold second = mutex.acquire_async();
  ASSERT_TRUE(wait_for_waiters(connection, 1));
  const auto shown = holder(connection, kPath);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->node, hold.node());
  EXPECT_EQ(shown->identity, "me");
  EXPECT_EQ(shown->note, "");
  EXPECT_EQ(shown->token, hold.token());
  EXPECT_EQ(shown->mode, LockMode::exclusive);
  EXPECT_TRUE(shown->holds);
  hold.release();
  const Hold next = get(second);
  EXPECT_EQ(holder(connection, kPath)->node, next.node());
}

TEST_F(ContendersTest, OfSeveralHolders_TheHolderIsTheFirst) {
  Connection& connection = connect_as("me");
  ReadWriteLock lock(connection, "/read-write");
  const Hold first = lock.acquire_read();
  const Hold second = lock.acquire_read();
  const auto reader = holder(connection, "/read-write");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->node, first.node());
  EXPECT_EQ(reader->mode, LockMode::read);
  Semaphore semaphore(connection, "/semaphore", 2);
  const Hold permit = semaphore.acquire();
  const Hold another = semaphore.acquire();
  const auto permitted = holder(connection, "/semaphore");
  ASSERT_TRUE(permitted);
  EXPECT_EQ(permitted->node, permit.node());
  EXPECT_EQ(permitted->mode, LockMode::permit);
}

TEST_F(ContendersTest, TheHolderOfASimpleLockAndADowngradedReader_AreKnown) {
  Connection& connection = connect_as("me");
  SimpleLock simple(connection, "/simple");
  const Hold hold = simple.acquire();
  EXPECT_EQ(holder(connection, "/simple")->token, hold.token());
  ReadWriteLock lock(connection, "/read-write");
  const Hold read = lock.downgrade(lock.acquire_write());
  ASSERT_TRUE(wait_for_nodes("/read-write", 1));
  EXPECT_EQ(holder(connection, "/read-write")->token, read.token());
}

TEST_F(ContendersTest, ToAskForTheHolder_CostsTheSameHoweverManyWait) {
  Connection& connection = connect_by_proxy();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  std::vector<PendingHold> waiting;
  for (int n = 0; n < 20; ++n) waiting.push_back(mutex.acquire_async());
  ASSERT_TRUE(wait_for_waiters(connection, 20));
  const auto before = proxy().counts();
  EXPECT_EQ(holder(connection, kPath)->node, hold.node());
  const auto after = proxy().counts();
  EXPECT_EQ(after.of(RequestKind::get_children) - before.of(RequestKind::get_children), 1);
  EXPECT_EQ(after.of(RequestKind::get_data) - before.of(RequestKind::get_data), 1);
}

TEST_F(ContendersTest, AHolderThatLeavesMeanwhile_IsFollowedByTheNext) {
  Connection& asking = connect_by_proxy();
  Connection& connection = connect_as("me");
  FairMutex mutex(connection, kPath);
  Hold hold = mutex.acquire();
  PendingHold second = mutex.acquire_async();
  ASSERT_TRUE(wait_for_waiters(connection, 1));
  proxy().hold_reply(RequestKind::get_children);
  std::optional<Contender> shown;
  Background looks([&] { shown = holder(asking, kPath); });
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  hold.release();
  const Hold next = get(second);
  proxy().release_held();
  looks.join();
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->node, next.node());
}

TEST_F(ContendersTest, TheNodeOfAContender_IsNoLockPath) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  EXPECT_EQ(error_of([&] { contenders(connection, hold.node()); }), make_error_code(ErrorCode::unusable_path));
  EXPECT_EQ(error_of([&] { holder(connection, hold.node()); }), make_error_code(ErrorCode::unusable_path));
}

TEST_F(ContendersTest, AnEphemeralNodeOfAnotherProgram_IsNoLock) {
  Connection& connection = connect();
  create_node("/brokers/ids");
  plain().create(full("/brokers/ids/1"), "host:9092", ZOO_EPHEMERAL);
  EXPECT_EQ(error_of([&] { contenders(connection, "/brokers/ids/1"); }), ErrorCode::unusable_path);
  EXPECT_EQ(error_of([&] { holder(connection, "/brokers/ids/1"); }), ErrorCode::unusable_path);
  remove_node("/brokers/ids/1");
}

TEST_F(ContendersTest, TheNodeOfALease_IsNamedTogetherWithThePathOfItsSemaphore) {
  Connection& connection = connect();
  Semaphore semaphore(connection, kPath, 1);
  const Hold hold = semaphore.acquire();
  const PendingHold waiting = semaphore.acquire_async();
  ASSERT_TRUE(wait_for_waiters(connection, 1));
  std::vector<std::string> nodes{hold.node()};
  for (const Contender& each : contenders(connection, kPath)) nodes.push_back(each.node);
  for (const std::string& node : nodes) {
    try {
      contenders(connection, node);
      ADD_FAILURE() << node << " is no lock";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("the path of the lock is " + std::string(kPath) + ":"));
    }
  }
  // Such names alone say nothing.
  FairMutex mutex(connection, "/app/locks");
  const Hold other = mutex.acquire();
  try {
    contenders(connection, other.node());
    ADD_FAILURE() << other.node() << " is no lock";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("the path of the lock is /app/locks:"));
  }
}

TEST_F(ContendersTest, TheFoldersOfASemaphore_AreNoLockPaths) {
  Connection& connection = connect();
  Semaphore semaphore(connection, "/app/permits", 2);
  const auto expect_refused = [&] {
    for (const std::string folder : {"/app/permits/leases", "/app/permits/locks"}) {
      const auto text =
          ::testing::HasSubstr(folder + " is a folder of a semaphore; the path of the lock is /app/permits:");
      const std::vector<std::function<void()>> looks{[&] { contenders(connection, folder); },
                                                     [&] { holder(connection, folder); },
                                                     [&] { list_lock(connection, folder); }};
      for (const auto& look : looks) {
        try {
          look();
          ADD_FAILURE() << folder << " is no lock";
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::unusable_path);
          EXPECT_THAT(error.what(), text);
        }
      }
    }
  };
  Hold one = semaphore.acquire(), two = semaphore.acquire();
  const PendingHold waiting = semaphore.acquire_async();
  ASSERT_TRUE(wait_for_waiters(connection, 1));
  expect_refused();
  EXPECT_EQ(contenders(connection, "/app/permits").size(), 3U);
}

TEST_F(ContendersTest, TheFoldersOfASemaphoreThatNobodyUses_AreNoLockPathsEither) {
  Connection& connection = connect();
  Semaphore(connection, kPath, 1).acquire().release();
  ASSERT_TRUE(wait_for([&] { return plain().stat(full("/lock/leases"))->version > 0; })) << "it is marked";
  EXPECT_EQ(error_of([&] { contenders(connection, "/lock/leases"); }), ErrorCode::unusable_path);
  EXPECT_EQ(error_of([&] { holder(connection, "/lock/locks"); }), ErrorCode::unusable_path);
}

TEST_F(ContendersTest, LocksCalledAsTheFoldersOfASemaphore_AreListedWhereThereIsNone) {
  Connection& connection = connect_by_proxy();
  FairMutex locks(connection, "/app/locks"), leases(connection, "/app/leases");
  for (const char* path : {"/app/locks", "/app/leases"}) EXPECT_FALSE(list_lock(connection, path).exists);
  leases.acquire().release();
  for (const char* path : {"/app/locks", "/app/leases"}) EXPECT_FALSE(holder(connection, path));
  const Hold one = locks.acquire(), two = leases.acquire();
  EXPECT_EQ(holder(connection, "/app/locks")->node, one.node());
  EXPECT_EQ(holder(connection, "/app/leases")->node, two.node());
  // The name of a lock's path says whether that could be such a folder.
  const auto requests = [&](const char* path) {
    const auto before = proxy().counts().of(RequestKind::get_children);
    contenders(connection, path);
    return proxy().counts().of(RequestKind::get_children) - before;
  };
  EXPECT_EQ(requests("/app/locks"), 2);
  EXPECT_EQ(requests("/app/other"), 1);
}

TEST_F(ContendersTest, ABadPathAndAClosedConnection_AreRefused) {
  Connection& connection = connect();
  EXPECT_THROW(contenders(connection, "lock"), std::invalid_argument);
  connection.close();
  EXPECT_THROW(contenders(connection, kPath), ConnectionClosed);
}

TEST_F(ContendersTest, ALostReply_IsAskedForAgain) {
  Connection& connection = connect_by_proxy();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  proxy().drop_reply(RequestKind::get_children);
  proxy().drop_reply(RequestKind::get_data);
  EXPECT_EQ(contenders(connection, kPath).size(), 1U);
}

}  // namespace
}  // namespace zkrecipes::testing
