// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/hold.h"

#include <future>

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class HoldTest : public ControlledRecipeTest {};

TEST_F(HoldTest, AnEmptyHold_HoldsNothing) {
  Hold hold;
  EXPECT_FALSE(hold);
  EXPECT_FALSE(hold.is_valid());
  EXPECT_LT(hold.valid_until(), Clock::now());
  EXPECT_EQ(hold.token(), FencingToken{});
  EXPECT_EQ(hold.node(), "");
  EXPECT_EQ(hold.cost().requests, 0);
  EXPECT_THROW(static_cast<void>(hold.on_lost([] {})), std::logic_error);
  hold.release();
}

TEST_F(HoldTest, AMovedFromHold_IsEmptyAndTheOtherHolds) {
  FairMutex mutex(connect(), kPath);
  Hold first = mutex.acquire();
  const FencingToken token = first.token();
  Hold second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): it is promised to be empty
  EXPECT_FALSE(first.is_valid());
  EXPECT_THROW(static_cast<void>(first.on_lost([] {})), std::logic_error);
  first.release();
  EXPECT_TRUE(second.is_valid());
  EXPECT_EQ(second.token(), token);
  EXPECT_TRUE(node_exists(second.node()));
}

TEST_F(HoldTest, AssigningAHold_ReleasesWhatItHeld) {
  Connection& connection = connect();
  FairMutex a(connection, "/a"), b(connection, "/b");
  Hold hold = a.acquire();
  hold = b.acquire();
  EXPECT_TRUE(wait_for_nodes("/a", 0));
  EXPECT_TRUE(hold.is_valid());
  Hold& same = hold;
  hold = std::move(same);
  EXPECT_TRUE(hold.is_valid());
}

TEST_F(HoldTest, AReleasedHold_KeepsItsTokenAndNode) {
  FairMutex mutex(connect(), kPath);
  Hold hold = mutex.acquire();
  const FencingToken token = hold.token();
  const std::string node = hold.node();
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  hold.release();
  EXPECT_FALSE(hold);
  EXPECT_EQ(hold.token(), token);
  EXPECT_EQ(hold.node(), node);
  EXPECT_FALSE(node_exists(node));
  EXPECT_EQ(lost.count(), 0) << "released is not lost";
}

TEST_F(HoldTest, AReleasedHold_IsNotValidBeyondItsRelease) {
  FairMutex mutex(connect(), kPath);
  Hold confirmed = mutex.acquire();
  EXPECT_GT(confirmed.valid_until(), Clock::now());
  confirmed.release();
  const auto at_most = Clock::now();
  EXPECT_LE(confirmed.valid_until(), at_most);
  FairMutex other(connect(), "/other");
  Hold never_lost = other.acquire();
  EXPECT_GT(never_lost.valid_until(), Clock::now()) << "the lease of a session goes on";
  EXPECT_LE(confirmed.valid_until(), at_most) << "and no longer concerns what was released";
}

TEST_F(HoldTest, AReleasedHold_IsNotLostWhenItsSessionEnds) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  Hold released = mutex.acquire();
  CallCount lost;
  const Subscription subscription = released.on_lost(lost.handler());
  released.release();
  const Hold kept = mutex.acquire();
  CallCount kept_lost;
  const Subscription kept_subscription = kept.on_lost(kept_lost.handler());
  expire_session(connection);
  ASSERT_TRUE(kept_lost.wait());
  EXPECT_EQ(lost.count(), 0);
}

TEST_F(HoldTest, OnLost_OfAHoldThatIsAlreadyLost_CallsAtOnce) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  expire_session(connection);
  ASSERT_TRUE(wait_for([&] { return !hold.is_valid(); }));
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  ASSERT_TRUE(lost.wait());
  EXPECT_EQ(lost.count(), 1);
}

TEST_F(HoldTest, OnLost_TellsEverySubscriberButNoneThatUnsubscribed) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  CallCount first, second, gone;
  const Subscription one = hold.on_lost(first.handler());
  const Subscription two = hold.on_lost(second.handler());
  { const Subscription three = hold.on_lost(gone.handler()); }
  expire_session(connection);
  ASSERT_TRUE(first.wait());
  ASSERT_TRUE(second.wait());
  EXPECT_EQ(gone.count(), 0);
}

TEST_F(HoldTest, AnOnLostThatThrows_DoesNotKeepTheNewsFromOthers) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  CallCount after;
  const Subscription one = hold.on_lost([] { throw std::runtime_error("on purpose, by a test"); });
  const Subscription two = hold.on_lost(after.handler());
  expire_session(connection);
  EXPECT_TRUE(after.wait());
}

TEST_F(HoldTest, AnEmptyCallback_IsRefused) {
  FairMutex mutex(connect(), kPath);
  const Hold hold = mutex.acquire();
  EXPECT_THROW(static_cast<void>(hold.on_lost(nullptr)), std::invalid_argument);
}

TEST_F(HoldTest, Validity_MovesOnWhileTheServerAnswers) {
  FairMutex mutex(connect(options(6s)), kPath);
  const Hold hold = mutex.acquire();
  const auto before = hold.valid_until();
  EXPECT_TRUE(wait_for([&] { return hold.valid_until() > before; }));
  EXPECT_TRUE(hold.is_valid());
}

TEST_F(HoldTest, AReleaseThatIsWaitedFor_ReallyHappened) {
  FairMutex mutex(connect(), kPath);
  for (int i = 0; i < 20; ++i) {
    Hold hold = mutex.acquire();
    const std::string node = hold.node();
    hold.release();
    EXPECT_FALSE(node_exists(node));
  }
}

TEST_F(HoldTest, AReleaseWhoseReplyIsLost_IsConfirmedAllTheSame) {
  FairMutex mutex(connect_by_proxy(), kPath);
  Hold hold = mutex.acquire();
  proxy().drop_reply(RequestKind::remove);
  hold.release();
  EXPECT_FALSE(node_exists(hold.node()));
}

TEST_F(HoldTest, ATimedRelease_ReturnsTrueWhenTheNodeIsGoneInTime) {
  FairMutex mutex(connect(), kPath);
  Hold first = mutex.acquire();
  EXPECT_TRUE(first.release_for(kLimit));
  EXPECT_FALSE(first);
  EXPECT_FALSE(node_exists(first.node()));
  Hold second = mutex.acquire();
  EXPECT_TRUE(second.release_until(std::chrono::system_clock::now() + kLimit));
  EXPECT_FALSE(node_exists(second.node()));
  EXPECT_TRUE(second.release_until(Clock::now() - 1s)) << "released before";
}

TEST_F(HoldTest, ATimedRelease_ReturnsFalseWhenTheServerIsSilentAndGoesOn) {
  FairMutex mutex(connect_by_proxy(), kPath);
  Hold hold = mutex.acquire();
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  proxy().black_hole();
  const auto before = Clock::now();
  EXPECT_FALSE(hold.release_for(100ms));
  EXPECT_GE(Clock::now() - before, 100ms);
  EXPECT_LT(Clock::now() - before, kLimit);
  EXPECT_FALSE(hold) << "released all the same";
  EXPECT_FALSE(hold.is_valid());
  EXPECT_TRUE(node_exists(hold.node()));
  EXPECT_TRUE(hold.release_for(0s)) << "a second call has nothing to wait for";
  proxy().heal();
  EXPECT_TRUE(wait_for_nodes(kPath, 0)) << "the removal goes on";
  EXPECT_EQ(lost.count(), 0);
}

TEST_F(HoldTest, ATimedReleaseWithoutTime_StillRemovesTheNode) {
  FairMutex mutex(connect(), kPath);
  Hold hold = mutex.acquire();
  static_cast<void>(hold.release_until(Clock::time_point::min()));
  EXPECT_FALSE(hold);
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(HoldTest, ATimedReleaseInACallback_IsRefusedAndTheHoldStays) {
  FairMutex mutex(connect(), kPath);
  std::promise<bool> is_valid;
  PendingHold pending = mutex.acquire_async();
  pending.on_ready([&](AcquireResult hold) {
    EXPECT_THROW(hold->release_for(1s), std::logic_error);
    EXPECT_THROW(hold->release_until(Clock::now() + 1s), std::logic_error);
    is_valid.set_value(hold->is_valid());
  });
  EXPECT_TRUE(is_valid.get_future().get());
}

TEST_F(HoldTest, ATimedReleaseOfALostHold_ThrowsSessionLost) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  Hold hold = mutex.acquire();
  expire_session(connection);
  ASSERT_TRUE(wait_for([&] { return !hold.is_valid(); }));
  EXPECT_EQ(error_of([&] { hold.release_for(kLimit); }), make_error_code(ErrorCode::session_lost));
  EXPECT_FALSE(hold);
  EXPECT_TRUE(hold.release_for(kLimit)) << "released by the first call";
}

TEST_F(HoldTest, TheReleaseOfALostHold_SaysWhyItWasLost) {
  FairMutex mutex(connect(), kPath);
  Hold hold = mutex.acquire();
  remove_node(hold.node());
  ASSERT_TRUE(wait_for([&] { return !hold.is_valid(); }));
  try {
    hold.release();
    FAIL() << "it was lost";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("somebody has deleted its node"),
                                               ::testing::HasSubstr("not protected")));
  }
}

TEST_F(HoldTest, ATimedReleaseOfAnEmptyHold_DoesNothing) {
  Hold hold;
  EXPECT_TRUE(hold.release_for(0s));
  EXPECT_TRUE(hold.release_until(Clock::now()));
}

TEST_F(HoldTest, SeveralThreads_MayReleaseAtOnce) {
  FairMutex mutex(connect(), kPath);
  for (int i = 0; i < 10; ++i) {
    Hold hold = mutex.acquire();
    Crowd crowd(4, [&](int) {
      static_cast<void>(hold.is_valid());
      hold.release();
    });
    crowd.join();
    EXPECT_FALSE(hold);
  }
}

}  // namespace
}  // namespace zkrecipes::testing
