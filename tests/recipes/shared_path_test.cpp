// SPDX-License-Identifier: Apache-2.0
// A SimpleLock's node stands at a path that all its users share, so the path does not say whose node it is.
#include <glog/logging.h>

#include "tests/recipes/recipe_test.h"
#include "tests/recipes/set_up_glog.h"

namespace zkrecipes::testing {
namespace {

class SharedPathTest : public ControlledRecipeTest {
 protected:
  void SetUp() override {
    ControlledRecipeTest::SetUp();
    if (IsSkipped()) return;
    victim_ = &connect_by_proxy(6s);
    other_ = &connect();
  }

  /// Begins to acquire; the create is applied, its reply is lost, and the server stays out of reach.
  PendingHold acquire_with_lost_create(SimpleLock& lock) {
    proxy().drop_reply(RequestKind::create);
    proxy().observe([this](const Observed& observed) {
      if (observed.sort == Message::Sort::reply && observed.kind == RequestKind::create) proxy().refuse(true);
    });
    PendingHold pending = lock.acquire_async();
    EXPECT_TRUE(proxy().wait_until_fired(kLimit));
    EXPECT_TRUE(wait_for_state(*victim_, ConnectionState::suspended));
    EXPECT_TRUE(node_exists(kPath)) << "the create was applied";
    return pending;
  }
  void find_server_again() {
    proxy().observe(nullptr);
    proxy().refuse(false);
  }
  void ask_to_give_up(bool with_our_call) {
    if (with_our_call)
      request_revoke(*other_, kPath);
    else
      plain().set(full(kPath), "__REVOKE__");
  }

  Connection* victim_ = nullptr;
  Connection* other_ = nullptr;
};

// The node of the lost session still stands when the next session looks. By the time a removal would arrive, the path
// is another client's.
TEST_F(SharedPathTest, ANodeOfAnEarlierSession_IsWaitedForAndNeverRemovedByItsPath) {
  SimpleLock lock(*victim_, kPath), next(*other_, kPath);
  PendingHold pending = acquire_with_lost_create(lock);
  const std::int64_t session = victim_->session_id();
  const std::string data = plain().data(full(kPath)).value();
  server().expire_session(session);
  // Stands in for the old node: the same data, and a session that the test can end at will.
  auto old = std::make_unique<PlainClient>(addresses());
  old->create(full(kPath), data, ZOO_EPHEMERAL);

  Answer<> looked;
  proxy().observe([this, looked, seen = false](const Observed& observed) mutable {
    if (seen || observed.sort != Message::Sort::reply || observed.kind != RequestKind::get_data) return;
    seen = true;
    proxy().delay(1s);  // this answer and everything that follows from it
    looked.handler()();
  });
  proxy().refuse(false);
  ASSERT_TRUE(looked.wait());
  old.reset();
  Hold hold = next.acquire();
  proxy().observe(nullptr);
  ASSERT_TRUE(wait_for_waiters(*victim_, 1)) << "it should wait for the next holder";
  EXPECT_FALSE(pending.ready());
  EXPECT_TRUE(hold.is_valid());
  expect_token_is_that_of_the_node(hold);
  proxy().heal();
  hold.release();
  get(pending).release();
}

TEST_F(SharedPathTest, ALostDeleteAfterARevocation_IsRepeatedUntilTheNodeIsGone) {
  for (const bool with_our_call : {true, false}) {
    SCOPED_TRACE(with_our_call ? "request_revoke()" : "as Curator writes it");
    SimpleLock lock(*victim_, kPath);
    Hold hold = lock.acquire();
    ask_to_give_up(with_our_call);
    proxy().cut_before_request(RequestKind::remove);
    hold.release();
    EXPECT_TRUE(proxy().wait_until_fired(kLimit));
    EXPECT_FALSE(node_exists(kPath)) << "release() has reported success";
    plain().remove(full(kPath));
  }
}

TEST_F(SharedPathTest, ALostReplyOfTheDeleteAfterARevocation_LeavesTheNextHolderAlone) {
  SimpleLock lock(*victim_, kPath), next(*other_, kPath);
  Hold hold = lock.acquire();
  ask_to_give_up(true);
  PendingHold pending = next.acquire_async();
  ASSERT_TRUE(wait_for_waiters(*other_, 1));
  proxy().drop_reply(RequestKind::remove);
  hold.release();
  const Hold theirs = get(pending);
  EXPECT_TRUE(theirs.is_valid());
  expect_token_is_that_of_the_node(theirs);
}

TEST_F(SharedPathTest, ALostCreateWhoseNodeIsRevoked_IsFoundAgain) {
  Connection& observer = connect();
  SimpleLock lock(*victim_, kPath);
  PendingHold pending = acquire_with_lost_create(lock);
  request_revoke(observer, kPath);
  find_server_again();
  ASSERT_TRUE(wait_until_ready(pending, 10s)) << "it waits for its own node";
  const Hold hold = pending.get();
  EXPECT_TRUE(hold.is_valid());
  expect_token_is_that_of_the_node(hold);
}

TEST_F(SharedPathTest, ARequestToTheNextHolder_IsNotTakenForOurs) {
  LockOptions options;
  CallCount asked;
  options.on_revoke = [asked](const std::string&) { asked.handler()(); };
  SimpleLock lock(*victim_, kPath, options);
  const Hold hold = lock.acquire();
  ASSERT_TRUE(wait_for_waiters(*victim_, 1)) << "the watch for revocations";
  // The holder learns of all this at once, and then reads the node of another.
  proxy().refuse(true);
  ASSERT_TRUE(wait_for_state(*victim_, ConnectionState::suspended));
  remove_node(kPath);
  SimpleLock next(*other_, kPath);
  Hold theirs = next.acquire();
  request_revoke(*other_, kPath);
  proxy().refuse(false);
  EXPECT_TRUE(wait_for([&] { return !hold.is_valid(); }));
  EXPECT_EQ(asked.count(), 0);
  EXPECT_TRUE(theirs.is_valid());
}

/// Counts the warnings of the library that contain a text.
class Warnings final : public google::LogSink {
 public:
  explicit Warnings(std::string text) : text_(std::move(text)) {
    set_up_glog();
    google::AddLogSink(this);
  }
  ~Warnings() override { google::RemoveLogSink(this); }
  void send(google::LogSeverity severity, const char* /*full_name*/, const char* /*name*/, int /*line*/,
            const google::LogMessageTime& /*time*/, const char* message, std::size_t length) override {
    if (severity == google::GLOG_WARNING && std::string(message, length).find(text_) != std::string::npos) ++count_;
  }
  int count() const { return count_; }

 private:
  const std::string text_;
  std::atomic<int> count_{0};
};

TEST_F(SharedPathTest, ARevocationWatchThatCannotBeSet_IsLoggedOnce) {
  const Warnings warnings("on_revoke of lock node " + std::string(kPath));
  ConnectionOptions unreadable = options();
  unreadable.acl = Acl({{Acl::kAll & ~Acl::kRead, "world", "anyone"}});
  LockOptions lock_options;
  lock_options.on_revoke = [](const std::string&) {};
  SimpleLock lock(connect(unreadable), kPath, lock_options);
  Hold hold = lock.acquire();
  EXPECT_TRUE(wait_for([&] { return warnings.count() > 0; }));
  EXPECT_TRUE(hold.is_valid());
  hold.release();
  EXPECT_EQ(warnings.count(), 1);
}

TEST_F(SharedPathTest, ARevocationThatMeetsAnother_IsWrittenAllTheSame) {
  LockOptions options;
  CallCount asked;
  options.on_revoke = [asked](const std::string&) { asked.handler()(); };
  SimpleLock lock(*victim_, kPath, options);
  const Hold hold = lock.acquire();
  Crowd crowd(4, [&](int) { request_revoke(*other_, kPath); });
  crowd.join();
  EXPECT_TRUE(asked.wait());
  EXPECT_EQ(plain().stat(full(kPath))->version, 4);
}

}  // namespace
}  // namespace zkrecipes::testing
