// SPDX-License-Identifier: Apache-2.0
// ACLs of lock nodes and of their parents: a private lock in a folder that others use, too.
#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

using detail::Status;

class PrivateLockFixture : public ControlledRecipeTest {
 protected:
  static constexpr const char* kShared = "/folder/lock";
  static constexpr const char* kSecret = "owner:secret";

  void SetUp() override {
    ControlledRecipeTest::SetUp();
    if (IsSkipped()) return;
    authenticate(plain());  // it looks at all nodes from outside
  }

  static void authenticate(const PlainClient& client) {
    const std::string secret = kSecret;
    zoo_add_auth(client.handle(), "digest", secret.data(), static_cast<int>(secret.size()), nullptr, nullptr);
  }
  /// A connection with credentials, which other connections do not have.
  ConnectionOptions owner_options() const {
    ConnectionOptions result = options();
    result.credentials = {{"digest", kSecret}};
    return result;
  }
  Connection& connect_owner() { return connect(owner_options()); }
  static LockOptions private_nodes() {
    LockOptions result;
    result.acl = Acl::creator_all();
    result.note = "private";
    return result;
  }
};

template <class Lock>
class PrivateLockTest : public PrivateLockFixture {};

TYPED_TEST_SUITE(PrivateLockTest, LockTypes, LockTypeNames);

TYPED_TEST(PrivateLockTest, AStranger_LocksBesideIt) {
  TypeParam mine(this->connect_owner(), this->kShared, this->private_nodes());
  TypeParam theirs(this->connect(), "/folder/other");
  Hold hold = mine.acquire();
  Hold beside = theirs.acquire();
  beside.release();
  hold.release();
}

TYPED_TEST(PrivateLockTest, AStranger_WaitsBehindIt) {
  Connection& owner = this->connect_owner();
  Connection& stranger = this->connect();
  TypeParam mine(owner, this->kShared, this->private_nodes());
  TypeParam theirs(stranger, this->kShared);
  Hold hold = mine.acquire();
  // One more of the owner's, so that a semaphore has a private place in line, too. Without order it might be last.
  PendingHold second = TypeParam::kFair ? mine.acquire_async() : PendingHold();
  ASSERT_TRUE(this->wait_for_waiters(owner, TypeParam::kFair ? 1 : 0));
  PendingHold waiting = theirs.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(stranger, 1));
  EXPECT_FALSE(theirs.try_acquire());
  hold.release();
  if (TypeParam::kFair) {
    hold = this->get(second);
    ASSERT_TRUE(this->wait_for_waiters(stranger, 1));
    EXPECT_FALSE(waiting.ready());
    hold.release();
  }
  Hold granted = this->get(waiting);
  EXPECT_TRUE(granted.is_valid());
  this->expect_token_is_that_of_the_node(granted);
  PendingHold behind_the_stranger = mine.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(owner, 1));
  granted.release();
  EXPECT_TRUE(this->get(behind_the_stranger).is_valid());
}

TYPED_TEST(PrivateLockTest, AStrangerThatGivesUp_LeavesNothing) {
  Connection& stranger = this->connect();
  TypeParam mine(this->connect_owner(), this->kShared, this->private_nodes());
  TypeParam theirs(stranger, this->kShared);
  const Hold hold = mine.acquire();
  ASSERT_TRUE(this->wait_for_nodes(this->kShared, 1));
  EXPECT_FALSE(theirs.try_acquire_for(100ms));
  EXPECT_TRUE(this->wait_for_nodes(this->kShared, 1));
}

TYPED_TEST(PrivateLockTest, AStrangerThatLosesItsConnection_WaitsOn) {
  Connection& stranger = this->connect_by_proxy();
  TypeParam mine(this->connect_owner(), this->kShared, this->private_nodes());
  TypeParam theirs(stranger, this->kShared);
  Hold hold = mine.acquire();
  PendingHold waiting = theirs.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(stranger, 1));
  StateLog log(stranger);
  this->lose_connection();
  ASSERT_TRUE(log.wait_for(ConnectionState::connected));
  ASSERT_TRUE(this->wait_for_waiters(stranger, 1));
  EXPECT_FALSE(waiting.ready());
  hold.release();
  EXPECT_TRUE(this->get(waiting).is_valid());
}

TYPED_TEST(PrivateLockTest, AStranger_SeesThatItIsHeldButNotByWhom) {
  Connection& owner = this->connect_owner();
  Connection& stranger = this->connect();
  LockOptions options = this->private_nodes();
  CallCount asked;
  options.on_revoke = [asked](const std::string&) { asked.handler()(); };
  TypeParam mine(owner, this->kShared, options);
  const Hold hold = mine.acquire();
  ASSERT_TRUE(this->wait_for_nodes(this->kShared, 1));
  const auto seen = holder(stranger, this->kShared);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->node, hold.node());
  EXPECT_EQ(seen->token, hold.token());
  EXPECT_EQ(seen->session, owner.session_id());
  EXPECT_EQ(seen->identity + seen->note, "");
  EXPECT_EQ(contenders(stranger, this->kShared).at(0).identity, "");
  EXPECT_EQ(holder(owner, this->kShared)->note, "private");
  EXPECT_THROW(request_revoke(stranger, hold.node()), NotAuthorized);
  EXPECT_EQ(asked.count(), 0);
  request_revoke(owner, hold.node());
  EXPECT_TRUE(asked.wait());
}

TYPED_TEST(PrivateLockTest, ANodeThatNobodyMayWrite_IsStillKeptAndRemoved) {
  Connection& connection = this->connect(this->options(6s));
  LockOptions options;
  options.acl = Acl({{Acl::kRead, "world", "anyone"}});
  TypeParam lock(connection, this->kShared, options);
  Hold hold = lock.acquire();
  const auto until = hold.valid_until();
  EXPECT_TRUE(wait_for([&] { return hold.valid_until() > until + 500ms; })) << "refused heartbeats prove as much";
  EXPECT_TRUE(hold.is_valid());
  hold.release();
  EXPECT_TRUE(this->wait_for_nodes(this->kShared, 0));
}

TYPED_TEST(PrivateLockTest, BadOptions_AreRefusedAtOnce) {
  Connection& connection = this->connect();
  EXPECT_THROW(TypeParam(connection, this->kPath, this->private_nodes()), std::invalid_argument)
      << "there are no credentials";
  LockOptions moved_from;
  moved_from.acl = Acl();
  const Acl taken = std::move(*moved_from.acl);
  EXPECT_THROW(TypeParam(connection, this->kPath, moved_from), std::invalid_argument);
  LockOptions noted;
  noted.note.assign(64 * 1024 + 1, 'x');
  EXPECT_THROW(TypeParam(connection, this->kPath, noted), std::invalid_argument);
  noted.note.pop_back();
  TypeParam lock(connection, this->kPath, noted);
  const Hold hold = lock.acquire();
  EXPECT_EQ(holder(connection, this->kPath)->note, noted.note);
}

TYPED_TEST(PrivateLockTest, ANote_IsShownAndCannotBeMistaken) {
  Connection& connection = this->connect();
  for (const char* note : {"backup of orders", "two\nlines \\n", "token=7", "__REVOKE__",
                           "x\n6ba7b810-9dad-11d1-80b4-00c04fd430c8", "x\ntoken=7"}) {
    LockOptions options;
    options.note = note;
    CallCount asked;
    options.on_revoke = [asked](const std::string&) { asked.handler()(); };
    TypeParam lock(connection, this->kPath, options);
    Hold hold = lock.acquire();
    auto shown = holder(connection, this->kPath);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->note, note);
    EXPECT_EQ(shown->token, hold.token());
    EXPECT_EQ(asked.count(), 0);
    request_revoke(connection, hold.node());
    EXPECT_TRUE(asked.wait());
    shown = holder(connection, this->kPath);
    EXPECT_EQ(shown->note, "");
    EXPECT_EQ(shown->token, hold.token());
    hold.release();
    ASSERT_TRUE(this->wait_for_nodes(this->kPath, 0));
  }
}

class PrivateReadWriteLockTest : public PrivateLockFixture {};

TEST_F(PrivateReadWriteLockTest, ADowngrade_KeepsAclAndNote) {
  Connection& owner = connect_owner();
  Connection& stranger = connect();
  ReadWriteLock lock(owner, kShared, private_nodes());
  const Hold read = lock.downgrade(lock.acquire_write());
  ASSERT_TRUE(wait_for_nodes(kShared, 1));
  const auto shown = holder(owner, kShared);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->note, "private");
  EXPECT_EQ(shown->token, read.token());
  EXPECT_EQ(SyncClient(stranger).get(read.node()).status, Status::not_authorized);
}

TEST_F(PrivateReadWriteLockTest, AStrangerThatReads_PassesPrivateReadersAndWaitsBehindPrivateWriters) {
  Connection& owner = connect_owner();
  Connection& stranger = connect();
  ReadWriteLock mine(owner, kShared, private_nodes()), theirs(stranger, kShared);
  Hold reading = mine.acquire_read();
  theirs.acquire_read().release();
  reading.release();
  Hold writing = mine.acquire_write();
  PendingHold reader = theirs.acquire_read_async();
  ASSERT_TRUE(wait_for_waiters(stranger, 1));
  const Hold downgraded = mine.downgrade(std::move(writing));
  EXPECT_TRUE(get(reader).is_valid());
}

class ParentAclTest : public PrivateLockFixture {};

TEST_F(ParentAclTest, AVersionToken_NeedsAPathThatMayBeWritten) {
  ConnectionOptions own = options();
  own.parent_acl = Acl({{Acl::kAll & ~Acl::kWrite, "world", "anyone"}});
  LockOptions counted;
  counted.version_token = true;
  Connection& connection = connect(own);
  FairMutex lock(connection, kShared, counted);
  EXPECT_THROW(static_cast<void>(lock.acquire()), NotAuthorized);
  EXPECT_TRUE(wait_for_nodes(kShared, 0));
  FairMutex uncounted(connection, kShared);
  uncounted.acquire().release();
}

TEST_F(ParentAclTest, APathThatMayNotBeListed_IsRefusedToAStrangerThatLists) {
  ConnectionOptions own = owner_options();
  own.parent_acl = Acl({{Acl::kAll, "auth", ""}, {Acl::kAll & ~Acl::kRead, "world", "anyone"}});
  SimpleLock lock(connect(own), kShared);
  Connection& stranger = connect();
  const Hold hold = lock.acquire();
  EXPECT_EQ(contenders(stranger, kShared).size(), 1U) << "the node itself may be read";
  EXPECT_THROW(static_cast<void>(contenders(stranger, "/folder")), NotAuthorized);
  EXPECT_THROW(static_cast<void>(holder(stranger, "/folder")), NotAuthorized);
}

TEST_F(ParentAclTest, AHandleOfTheProgram_MayHaveCredentialsThatAreNotKnownHere) {
  Connection& stranger = connect();
  const PlainClient program(addresses());
  authenticate(program);
  Connection connection(program.handle());
  ASSERT_TRUE(connection.wait_until_connected(kLimit));
  FairMutex lock(connection, full(kShared), private_nodes());
  Hold hold = lock.acquire();
  EXPECT_EQ(holder(stranger, kShared)->note, "") << "it may not be read";
  hold.release();
}

}  // namespace
}  // namespace zkrecipes::testing
