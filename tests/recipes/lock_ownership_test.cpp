// SPDX-License-Identifier: Apache-2.0
// A lock belongs to the thread that took it: the same rule for every lock type, and for both sides of those that have
// two.
#include <mutex>
#include <shared_mutex>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

/// The reading side of a lock in the place of its writing side.
template <class Lock>
struct ReadSide : Lock {
  using Lock::Lock;
  using Guard = std::shared_lock<ReadSide>;
  static constexpr bool kRefusesASecond = false;
  bool is_held() const { return this->is_held_shared(); }
  std::string node() const { return this->node_shared(); }
  FencingToken fencing_token() const { return this->fencing_token_shared(); }
  Subscription on_lost(std::function<void()> callback) { return this->on_lost_shared(std::move(callback)); }
  void take() { this->lock_shared(); }
  bool try_take() { return this->try_lock_shared(); }
  void give_back() { this->unlock_shared(); }
};

template <class Lock, bool refuses_a_second>
struct WholeLock : Lock {
  using Lock::Lock;
  using Guard = std::unique_lock<WholeLock>;
  static constexpr bool kRefusesASecond = refuses_a_second;
  void take() { this->lock(); }
  bool try_take() { return this->try_lock(); }
  void give_back() { this->unlock(); }
};

struct FairMutexOwner : WholeLock<FairMutex, true> {
  static constexpr const char* kName = "FairMutex";
  using WholeLock::WholeLock;
};
struct SimpleLockOwner : WholeLock<SimpleLock, true> {
  static constexpr const char* kName = "SimpleLock";
  using WholeLock::WholeLock;
};
struct RecursiveFairMutexOwner : WholeLock<RecursiveFairMutex, false> {
  static constexpr const char* kName = "RecursiveFairMutex";
  using WholeLock::WholeLock;
};
struct WriterOwner : WholeLock<ReadWriteLock, true> {
  static constexpr const char* kName = "ReadWriteLock_writing";
  using WholeLock::WholeLock;
};
struct ReaderOwner : ReadSide<ReadWriteLock> {
  static constexpr const char* kName = "ReadWriteLock_reading";
  using ReadSide::ReadSide;
};
struct RecursiveWriterOwner : WholeLock<RecursiveReadWriteLock, false> {
  static constexpr const char* kName = "RecursiveReadWriteLock_writing";
  using WholeLock::WholeLock;
};
struct RecursiveReaderOwner : ReadSide<RecursiveReadWriteLock> {
  static constexpr const char* kName = "RecursiveReadWriteLock_reading";
  using ReadSide::ReadSide;
};

template <class Lock>
class LockOwnershipTest : public ControlledRecipeTest {};

using OwnedTypes = ::testing::Types<FairMutexOwner, SimpleLockOwner, RecursiveFairMutexOwner, WriterOwner, ReaderOwner,
                                    RecursiveWriterOwner, RecursiveReaderOwner>;
TYPED_TEST_SUITE(LockOwnershipTest, OwnedTypes, LockTypeNames);

TYPED_TEST(LockOwnershipTest, UnlockByAThreadThatHasNotLocked_DoesNothing) {
  TypeParam lock(this->connect(), this->kPath);
  lock.give_back();
  lock.take();
  const FencingToken token = lock.fencing_token();
  Background([&] { lock.give_back(); }).join();
  EXPECT_TRUE(lock.is_held());
  EXPECT_EQ(lock.fencing_token(), token);
  EXPECT_EQ(this->nodes_at(this->kPath).size(), 1U);
  lock.give_back();
  lock.give_back();
  EXPECT_FALSE(lock.is_held());
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
}

TYPED_TEST(LockOwnershipTest, AGuardThatEndsInAnotherThread_LeavesTheLockWithItsOwner) {
  TypeParam lock(this->connect(), this->kPath);
  FairMutex writer(this->connect(), this->kPath);
  typename TypeParam::Guard guard(lock);
  Background([&, moved = std::make_shared<typename TypeParam::Guard>(std::move(guard))]() mutable {
    EXPECT_TRUE(moved->owns_lock());
    moved.reset();
    EXPECT_TRUE(lock.is_held()) << "its owner's";
  }).join();
  EXPECT_TRUE(lock.is_held());
  lock.give_back();
  EXPECT_FALSE(lock.is_held());
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
}

TYPED_TEST(LockOwnershipTest, AGuardThatComesBackFromAnotherThread_Unlocks) {
  TypeParam lock(this->connect(), this->kPath);
  {
    typename TypeParam::Guard guard(lock), away;
    Background([&] { away = std::move(guard); }).join();
    guard = std::move(away);
    EXPECT_TRUE(lock.is_held());
  }
  EXPECT_FALSE(lock.is_held());
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
}

TYPED_TEST(LockOwnershipTest, TheNode_IsThatOfTheLock) {
  TypeParam lock(this->connect(), this->kPath);
  const auto not_held = make_error_code(ErrorCode::not_held);
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.node()); }), not_held);
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.fencing_token()); }), not_held);
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.on_lost([] {})); }), not_held);
  lock.take();
  EXPECT_TRUE(this->node_exists(lock.node())) << lock.node();
  EXPECT_EQ(lock.fencing_token().zxid, this->czxid_of(lock.node()));
  EXPECT_THROW(static_cast<void>(lock.on_lost(nullptr)), std::invalid_argument);
  lock.give_back();
}

TYPED_TEST(LockOwnershipTest, ALostSession_IsReportedAndTheThreadMayLockAgain) {
  Connection& connection = this->connect();
  TypeParam lock(connection, this->kPath);
  lock.take();
  const FencingToken token = lock.fencing_token();
  CallCount lost;
  const Subscription subscription = lock.on_lost(lost.handler());
  this->expire_session(connection);
  ASSERT_TRUE(lost.wait());
  EXPECT_FALSE(lock.is_held());
  EXPECT_EQ(lock.fencing_token(), token);
  lock.take();  // into the lost hold where the lock is recursive, else a hold of its own
  lock.give_back();
  EXPECT_FALSE(lock.is_held());
  EXPECT_EQ(lock.fencing_token(), token) << "the lost one is not unlocked yet";
  lock.give_back();
  lock.take();
  EXPECT_TRUE(lock.is_held());
  EXPECT_GT(lock.fencing_token(), token);
  lock.give_back();
  EXPECT_EQ(lost.count(), 1);
}

TYPED_TEST(LockOwnershipTest, ASecondLockByItsOwner_DoesNotWaitForItself) {
  TypeParam lock(this->connect(), this->kPath);
  lock.take();
  const FencingToken token = lock.fencing_token();
  if (TypeParam::kRefusesASecond) {
    EXPECT_THROW(lock.take(), std::logic_error);
    EXPECT_FALSE(lock.try_take());
  } else {
    lock.take();
    EXPECT_TRUE(lock.try_take());
    lock.give_back();
    lock.give_back();
  }
  EXPECT_TRUE(lock.is_held());
  EXPECT_EQ(lock.fencing_token(), token);
  lock.give_back();
  lock.take();
  lock.give_back();
}

}  // namespace
}  // namespace zkrecipes::testing
