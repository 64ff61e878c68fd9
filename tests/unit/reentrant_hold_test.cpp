// SPDX-License-Identifier: Apache-2.0
#include "recipes/reentrant_hold.h"

#include <gtest/gtest.h>

namespace zkrecipes::detail {
namespace {

using Entry = ReentrantHold::Entry;
using Exit = ReentrantHold::Exit;

TEST(ReentrantHold, TheFirstEntry_NeedsAGrant) {
  ReentrantHold held;
  EXPECT_EQ(held.enter_write(), Entry::acquire);
  EXPECT_EQ(held.enter_read(), Entry::acquire);
  EXPECT_EQ(held.writes() + held.reads(), 0) << "nothing is counted before the grant";
  EXPECT_EQ(held.leave_write(), Exit::not_inside);
  EXPECT_EQ(held.leave_read(), Exit::not_inside);
}

TEST(ReentrantHold, WriteInWriteAndReadInWrite_AreCounted) {
  ReentrantHold held;
  held.granted_write(Hold(), LockOptions());
  EXPECT_EQ(held.enter_write(), Entry::counted);
  EXPECT_EQ(held.enter_read(), Entry::counted);
  EXPECT_EQ(held.enter_write(), Entry::counted) << "write in read in write";
  EXPECT_EQ(held.writes(), 3);
  EXPECT_EQ(held.reads(), 1);
  EXPECT_EQ(held.leave_read(), Exit::inside);
  EXPECT_EQ(held.leave_read(), Exit::not_inside);
  EXPECT_EQ(held.leave_write(), Exit::inside);
  EXPECT_EQ(held.leave_write(), Exit::inside);
  EXPECT_EQ(held.leave_write(), Exit::over);
}

TEST(ReentrantHold, WriteInRead_IsRefusedAndChangesNothing) {
  ReentrantHold held;
  held.granted_read(Hold());
  EXPECT_EQ(held.enter_read(), Entry::counted);
  EXPECT_EQ(held.enter_write(), Entry::refused);
  EXPECT_EQ(held.writes(), 0);
  EXPECT_EQ(held.reads(), 2);
  EXPECT_EQ(held.leave_write(), Exit::not_inside);
  EXPECT_EQ(held.leave_read(), Exit::inside);
  EXPECT_EQ(held.leave_read(), Exit::over);
}

TEST(ReentrantHold, AWriteThatIsLeftBeforeItsRead_LeavesAReader) {
  ReentrantHold held;
  held.granted_write(Hold(), LockOptions());
  held.enter_read();
  EXPECT_EQ(held.leave_write(), Exit::inside);
  EXPECT_EQ(held.enter_write(), Entry::refused) << "it is a reader now";
  EXPECT_EQ(held.enter_read(), Entry::counted);
  EXPECT_EQ(held.leave_read(), Exit::inside);
  EXPECT_EQ(held.leave_read(), Exit::over);
}

}  // namespace
}  // namespace zkrecipes::detail
