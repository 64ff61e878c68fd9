// SPDX-License-Identifier: Apache-2.0
// Wrong arguments, wrong use, and paths that cannot hold a lock: a clear error, never a grant, a hang or an orphan.
#include <limits>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

template <class Lock>
class BadInputTest : public RecipeTest {
 protected:
  static bool is_simple() { return std::string(Lock::kName) == "SimpleLock"; }
  std::string line() const { return std::string(kPath) + Lock::kPath; }

  /// A node whose ACL lets others only look.
  void create_forbidden(const std::string& path) {
    ACL read_only[] = {{ZOO_PERM_READ, {const_cast<char*>("world"), const_cast<char*>("anyone")}}};
    const ACL_vector acl{1, read_only};
    ASSERT_EQ(zoo_create(plain().handle(), full(path).c_str(), "", 0, &acl, ZOO_PERSISTENT, nullptr, 0), ZOK);
  }
};

TYPED_TEST_SUITE(BadInputTest, LockTypes, LockTypeNames);

TYPED_TEST(BadInputTest, MalformedPaths_AreRefusedAtOnce) {
  Connection& connection = this->connect();
  for (const char* path : {"", "lock", "relative/lock", "/", "/lock/", "//lock", "/a//lock", "/a/./lock", "/a/../lock",
                           "/..", "/lock\n", "/lo\x01ck",
                           "/lo\x7f"
                           "ck"})
    EXPECT_THROW(TypeParam(connection, path), std::invalid_argument) << '"' << path << '"';
  EXPECT_THROW(TypeParam(connection, std::string("/lo\0ck", 6)), std::invalid_argument);
  try {
    TypeParam lock(connection, "relative");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("relative"), std::string::npos) << "names the path: " << error.what();
  }
}

TYPED_TEST(BadInputTest, ATimeoutThatIsNoNumber_IsRefusedAtOnce) {
  TypeParam lock(this->connect(), this->kPath);
  const std::chrono::duration<double> none(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(static_cast<void>(lock.try_acquire_for(none)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(lock.try_lock_for(none)), std::invalid_argument);
}

TYPED_TEST(BadInputTest, UnlockWithoutLock_DoesNothing) {
  TypeParam lock(this->connect(), this->kPath);
  lock.unlock();
  lock.lock();
  Background([&] { lock.unlock(); }).join();
  EXPECT_TRUE(lock.is_held()) << "another thread's unlock is not ours";
  lock.unlock();
  lock.unlock();
  EXPECT_FALSE(lock.is_held());
}

TYPED_TEST(BadInputTest, ASecondTryByItsHolder_TimesOut) {
  TypeParam lock(this->connect(), this->kPath);
  lock.lock();
  const FencingToken token = lock.fencing_token();
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock_for(100ms));
  EXPECT_TRUE(lock.is_held());
  EXPECT_EQ(lock.fencing_token(), token);
  lock.unlock();
  EXPECT_TRUE(lock.try_lock_for(kLimit));
  lock.unlock();
}

TYPED_TEST(BadInputTest, AParentWithoutPermission_IsNotAuthorizedAtOnce) {
  Connection& connection = this->connect();
  this->plain();
  this->create_forbidden("/forbidden");
  TypeParam lock(connection, this->is_simple() ? "/forbidden/lock" : "/forbidden");
  TypeParam below(connection, "/forbidden/deep/lock");
  EXPECT_THROW(static_cast<void>(lock.acquire()), NotAuthorized);
  EXPECT_THROW(static_cast<void>(below.acquire()), NotAuthorized);
  EXPECT_THROW(static_cast<void>(lock.try_acquire()), NotAuthorized);
  EXPECT_THROW(static_cast<void>(lock.try_acquire_for(kLimit)), NotAuthorized);
  EXPECT_THROW(lock.lock(), NotAuthorized);
  PendingHold pending = below.acquire_async();
  EXPECT_THROW(static_cast<void>(this->get(pending)), NotAuthorized);
}

TYPED_TEST(BadInputTest, WrongCredentials_AreNotAuthorized) {
  ConnectionOptions owner = this->options();
  owner.credentials = {{"digest", "owner:secret"}};
  owner.acl = owner.parent_acl = Acl::creator_all();
  ConnectionOptions stranger = this->options();
  stranger.credentials = {{"digest", "stranger:guess"}};
  Connection& owned = this->connect(owner);
  TypeParam lock(owned, "/private/lock");
  TypeParam other(this->connect(stranger), "/private/lock");
  Hold hold = lock.acquire();
  EXPECT_THROW(static_cast<void>(other.acquire()), NotAuthorized);
  EXPECT_TRUE(hold.is_valid());
  hold.release();
  // The node of a simple lock is gone, but its parent is the owner's, too.
  EXPECT_THROW(static_cast<void>(other.acquire()), NotAuthorized);
  lock.acquire().release();
  // Only the owner may tidy up behind this test.
  const auto client = client_of(owned);
  const auto session = client->current_session();
  for (const char* node : {"/private/lock/leases", "/private/lock/locks", "/private/lock", "/private"}) {
    RemoveAnswer removed;
    client->remove(session, node, {}, removed.handler());
    removed.get();
  }
}

// The server counts in 32 bits: after 2147483647 it creates a node with a minus sign.
TYPED_TEST(BadInputTest, ASequencePastItsLimit_IsRefusedAndNeverGranted) {
  if (this->is_simple()) GTEST_SKIP() << "has no sequence";
  const std::string marker = std::string(TypeParam::kName) == "ReadWriteLock" ? "__WRIT__" : "lock-";
  const std::string overflown = this->line() + "/_c_0f8fad5b-d9cb-469f-a165-70867728950e-" + marker + "-2147483648";
  this->create_node(overflown);
  TypeParam lock(this->connect(), this->kPath);
  const auto exhausted = make_error_code(ErrorCode::sequence_exhausted);
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.acquire()); }), exhausted);
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.try_acquire_for(kLimit)); }), exhausted);
  PendingHold pending = lock.acquire_async();
  EXPECT_EQ(error_of([&] { static_cast<void>(this->get(pending)); }), exhausted);
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
  this->remove_node(overflown);
  EXPECT_TRUE(lock.try_acquire_for(kLimit));
}

TYPED_TEST(BadInputTest, APathBelowAnEphemeralNode_IsUnusable) {
  Connection& connection = this->connect();
  SimpleLock simple(connection, "/simple");
  const Hold holder = simple.acquire();
  TypeParam lock(connection, "/simple/lock");
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.acquire()); }), make_error_code(ErrorCode::unusable_path));
  EXPECT_TRUE(holder.is_valid());
}

TYPED_TEST(BadInputTest, SomebodysDataNode_IsNeverHarmed) {
  this->create_node(this->kPath, "precious");
  TypeParam lock(this->connect(), this->kPath);
  if (this->is_simple()) {
    EXPECT_EQ(error_of([&] { static_cast<void>(lock.acquire()); }), make_error_code(ErrorCode::unusable_path));
    EXPECT_EQ(error_of([&] { static_cast<void>(lock.try_acquire_for(kLimit)); }),
              make_error_code(ErrorCode::unusable_path));
    EXPECT_EQ(error_of([&] { static_cast<void>(lock.try_acquire()); }), make_error_code(ErrorCode::unusable_path));
  } else {
    lock.acquire().release();
  }
  EXPECT_EQ(this->plain().data(this->full(this->kPath)), "precious");
}

class BadUseTest : public RecipeTest {};

TEST_F(BadUseTest, ASemaphoreWithoutPermits_IsRefused) {
  Connection& connection = connect();
  EXPECT_THROW(Semaphore(connection, kPath, 0), std::invalid_argument);
  EXPECT_THROW(Semaphore(connection, kPath, -3), std::invalid_argument);
}

TEST_F(BadUseTest, VersionTokensWhereTheyMakeNoSense_AreRefused) {
  Connection& connection = connect();
  LockOptions options;
  options.version_token = true;
  EXPECT_THROW(SimpleLock(connection, kPath, options), std::invalid_argument);
  EXPECT_THROW(Semaphore(connection, kPath, 2, options), std::invalid_argument);
}

TEST_F(BadUseTest, QuestionsAboutALockThatWasNotTaken_AreRefused) {
  FairMutex mutex(connect(), kPath);
  EXPECT_FALSE(mutex.is_held());
  EXPECT_EQ(error_of([&] { static_cast<void>(mutex.fencing_token()); }), make_error_code(ErrorCode::not_held));
  EXPECT_EQ(error_of([&] { static_cast<void>(mutex.on_lost([] {})); }), make_error_code(ErrorCode::not_held));
}

TEST_F(BadUseTest, ASimpleLocksPath_IsUnusableForAQueue) {
  Connection& connection = connect();
  SimpleLock simple(connection, kPath);
  const Hold hold = simple.acquire();
  FairMutex mutex(connection, kPath);
  ReadWriteLock read_write(connection, kPath);
  Semaphore semaphore(connection, kPath, 1);
  const auto unusable = make_error_code(ErrorCode::unusable_path);
  EXPECT_EQ(error_of([&] { static_cast<void>(mutex.acquire()); }), unusable);
  EXPECT_EQ(error_of([&] { static_cast<void>(read_write.acquire_read()); }), unusable);
  EXPECT_EQ(error_of([&] { static_cast<void>(semaphore.acquire()); }), unusable);
}

}  // namespace
}  // namespace zkrecipes::testing
