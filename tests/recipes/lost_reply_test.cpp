// SPDX-License-Identifier: Apache-2.0
// Replies that are lost after the server has applied the request.
#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

// Every kind of request that some recipe sends, whether or not this one does.
constexpr RequestKind kKinds[] = {RequestKind::create, RequestKind::get_children,  RequestKind::get_data,
                                  RequestKind::exists, RequestKind::remove,        RequestKind::set_data,
                                  RequestKind::sync,   RequestKind::remove_watches};

template <class Lock>
class LostReplyTest : public ControlledRecipeTest {
 protected:
  void SetUp() override {
    ControlledRecipeTest::SetUp();
    if (IsSkipped()) return;
    victim_ = &connect_by_proxy(6s);  // the C client waits for a sixtieth of this before it connects again
    other_ = &connect();
  }

  /// The way through a lock that meets every kind of request: free, then busy, then waiting, then released.
  void walk(const std::string& path) {
    Lock lock(*victim_, path);
    Lock blocker(*other_, path);
    {
      Hold hold = lock.acquire();
      expect_only_node(path, hold);
      hold.release();
    }
    EXPECT_TRUE(wait_for_nodes(path, 0));
    Hold ahead = blocker.acquire();
    PendingHold gives_up = lock.acquire_async();
    ASSERT_TRUE(wait_for_waiters(*victim_, 1));
    PendingHold waits = lock.acquire_async();
    ASSERT_TRUE(wait_for_waiters(*victim_, 2));
    gives_up.cancel();
    ASSERT_TRUE(wait_for_waiters(*victim_, 1));
    EXPECT_FALSE(waits.ready());
    EXPECT_TRUE(ahead.is_valid());
    ahead.release();
    Hold hold = get(waits);
    expect_only_node(path, hold);
    if (auto free = lock.try_acquire_for(50ms)) ADD_FAILURE() << "two holders";
    hold.release();
    EXPECT_TRUE(wait_for_nodes(path, 0));
  }

  /// The next reply of this kind is lost, and from then on nobody gets through until the proxy accepts again.
  void lose_reply_and_server(RequestKind kind, int nth = 1) {
    proxy().drop_reply(kind, nth);
    proxy().observe([this, kind, nth, seen = 0](const Observed& observed) mutable {
      if (observed.sort == Message::Sort::reply && observed.kind == kind && ++seen == nth) proxy().refuse(true);
    });
  }
  bool wait_until_lost(std::chrono::milliseconds limit = kLimit) {
    return proxy().wait_until_fired(limit) && wait_for_state(*victim_, ConnectionState::suspended);
  }
  void find_server_again() {
    proxy().observe(nullptr);
    proxy().clear_faults();
    proxy().refuse(false);
  }

  void expect_only_node(const std::string& path, const Hold& hold) {
    EXPECT_TRUE(hold.is_valid());
    expect_token_is_that_of_the_node(hold);
    // A semaphore gives its place in line back in the background.
    EXPECT_TRUE(wait_for_nodes(path, 1));
  }

  Connection* victim_ = nullptr;
  Connection* other_ = nullptr;
};

TYPED_TEST_SUITE(LostReplyTest, LockTypes, LockTypeNames);

TYPED_TEST(LostReplyTest, ALostReply_IsResolvedToOneNodeAndTheRightToken) {
  int fired = 0;
  for (const RequestKind kind : kKinds) {
    for (const int nth : {1, 2, 3}) {
      SCOPED_TRACE(std::string(name_of(kind)) + " " + std::to_string(nth));
      this->proxy().drop_reply(kind, nth);
      this->walk("/" + std::string(name_of(kind)) + std::to_string(nth));
      fired += this->proxy().armed() == 0 ? 1 : 0;
      this->proxy().clear_faults();
      if (this->HasFatalFailure()) return;
    }
  }
  EXPECT_GE(fired, 8) << "the faults have hit nothing";
}

TYPED_TEST(LostReplyTest, ARequestThatIsCutHalfWay_IsSentAgain) {
  for (const RequestKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    this->proxy().cut_request_half_way(kind);
    this->walk("/" + std::string(name_of(kind)));
    this->proxy().clear_faults();
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(LostReplyTest, ALostReplyWhoseSessionExpires_LeavesNothingToBeAdopted) {
  for (const RequestKind kind : {RequestKind::create, RequestKind::get_children, RequestKind::get_data}) {
    const bool watches_children = TypeParam::kLookNth > 1;
    const bool is_simple = TypeParam::kLookKind == RequestKind::create;
    if (kind == RequestKind::get_data && watches_children) continue;
    if (kind == RequestKind::get_children && is_simple) continue;
    SCOPED_TRACE(name_of(kind));
    const std::string path = "/" + std::string(name_of(kind));
    TypeParam lock(*this->victim_, path);
    TypeParam blocker(*this->other_, path);
    lock.acquire().release();
    Hold ahead = blocker.acquire();
    const std::int64_t session = this->victim_->session_id();
    this->lose_reply_and_server(kind);
    PendingHold pending = lock.acquire_async();
    ASSERT_TRUE(this->wait_until_lost());
    this->server().expire_session(session);
    this->find_server_again();
    ASSERT_TRUE(wait_for([&] { return this->victim_->session_id() != session && this->victim_->session_id() != 0; }));
    ASSERT_TRUE(this->wait_for_waiters(*this->victim_, 1));
    EXPECT_FALSE(pending.ready());
    ahead.release();
    const Hold hold = this->get(pending);
    this->expect_only_node(path, hold);
  }
}

TYPED_TEST(LostReplyTest, ALostCreateWhoseSessionExpires_IsDoneAgainInTheNext) {
  TypeParam lock(*this->victim_, this->kPath);
  lock.acquire().release();
  const std::int64_t session = this->victim_->session_id();
  this->lose_reply_and_server(RequestKind::create);
  PendingHold pending = lock.acquire_async();
  ASSERT_TRUE(this->wait_until_lost());
  ASSERT_EQ(this->nodes_at(this->kPath).size(), 1U) << "applied";
  this->server().expire_session(session);
  this->find_server_again();
  const Hold hold = this->get(pending);
  this->expect_only_node(this->kPath, hold);
  EXPECT_NE(this->victim_->session_id(), session);
}

TYPED_TEST(LostReplyTest, TheSameReplyLostTwiceInARow_IsResolved) {
  for (const RequestKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    this->proxy().drop_reply(kind);
    this->proxy().drop_reply(kind);
    this->walk("/" + std::string(name_of(kind)));
    this->proxy().clear_faults();
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(LostReplyTest, ALostCreateWhoseCleanUpFailsToo_IsResolved) {
  for (const RequestKind second :
       {RequestKind::sync, RequestKind::get_children, RequestKind::get_data, RequestKind::exists}) {
    SCOPED_TRACE(name_of(second));
    this->proxy().drop_reply(RequestKind::create);
    this->proxy().drop_reply(second);
    this->walk("/" + std::string(name_of(second)));
    this->proxy().clear_faults();
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(LostReplyTest, ALostCreateWhoseCallTimesOutMeanwhile_LeavesNoNode) {
  TypeParam lock(*this->victim_, this->kPath);
  lock.acquire().release();
  // A semaphore makes two nodes: its place in line and the lease.
  for (const int nth : {1, 2}) {
    if (nth > 1 && TypeParam::kLookNth == 1) continue;
    SCOPED_TRACE(nth);
    this->lose_reply_and_server(RequestKind::create, nth);
    EXPECT_FALSE(lock.try_acquire_for(1s));
    ASSERT_TRUE(this->wait_until_lost());
    this->find_server_again();
    EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
    ASSERT_TRUE(this->wait_for_state(*this->victim_, ConnectionState::connected));
  }
}

TYPED_TEST(LostReplyTest, ALostCreateThatIsCancelledMeanwhile_LeavesNoNode) {
  TypeParam lock(*this->victim_, this->kPath);
  lock.acquire().release();
  for (const RequestKind kind : {RequestKind::create, RequestKind::get_children}) {
    if (kind == RequestKind::get_children && TypeParam::kLookKind == RequestKind::create) continue;
    SCOPED_TRACE(name_of(kind));
    this->lose_reply_and_server(kind);
    {
      const PendingHold pending = lock.acquire_async();
      ASSERT_TRUE(this->wait_until_lost());
    }
    this->find_server_again();
    EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
    ASSERT_TRUE(this->wait_for_state(*this->victim_, ConnectionState::connected));
  }
}

}  // namespace
}  // namespace zkrecipes::testing
