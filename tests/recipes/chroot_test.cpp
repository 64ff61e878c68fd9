// SPDX-License-Identifier: Apache-2.0
// A chroot that does not exist is made by the first acquire, or refused by each.
#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

template <class Lock>
class MissingChrootTest : public RecipeTest {
 protected:
  ConnectionOptions below_missing(bool create) const {
    ConnectionOptions result = options();
    result.servers += "/missing/chroot";
    result.create_chroot = create;
    return result;
  }
};
TYPED_TEST_SUITE(MissingChrootTest, LockTypes, LockTypeNames);

TYPED_TEST(MissingChrootTest, IsMadeByDefault) {
  EXPECT_TRUE(ConnectionOptions().create_chroot);
  TypeParam lock(this->connect(this->below_missing(true)), this->kPath);
  lock.acquire().release();
  EXPECT_TRUE(this->node_exists("/missing/chroot"));
}

TYPED_TEST(MissingChrootTest, IsRefusedByEachAcquireIfItIsNotToBeMade) {
  TypeParam lock(this->connect(this->below_missing(false)), this->kPath);
  const auto unusable = make_error_code(ErrorCode::unusable_path);
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.acquire()); }), unusable);
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.try_acquire()); }), unusable);
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.try_acquire_for(kLimit)); }), unusable);
  EXPECT_EQ(error_of([&] { lock.lock(); }), unusable);
  PendingHold pending = lock.acquire_async();
  EXPECT_EQ(error_of([&] { static_cast<void>(this->get(pending)); }), unusable);
  EXPECT_FALSE(this->node_exists("/missing")) << "nothing was made";
  try {
    lock.lock();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("create_chroot"));
  }
  this->create_node("/missing/chroot");
  lock.acquire().release();
}

TYPED_TEST(MissingChrootTest, ThatExists_IsUsedWithOrWithoutTheOption) {
  this->create_node("/missing/chroot");
  TypeParam lock(this->connect(this->below_missing(false)), "/deep/below/lock");
  lock.acquire().release();
}

}  // namespace
}  // namespace zkrecipes::testing
