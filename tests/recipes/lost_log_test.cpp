// SPDX-License-Identifier: Apache-2.0
// The log lines of a lost hold, and of one that cannot be watched for revocation.
#include <glog/logging.h>
#include <gmock/gmock.h>
#include <mutex>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"
#include "tests/recipes/set_up_glog.h"

namespace zkrecipes::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The warnings with these words while it lives.
class LossLog : public google::LogSink {
 public:
  explicit LossLog(std::string words = "hold lost") : words_(std::move(words)) {
    set_up_glog();
    google::AddLogSink(this);
  }
  ~LossLog() override { google::RemoveLogSink(this); }
  LossLog(const LossLog&) = delete;
  LossLog& operator=(const LossLog&) = delete;

  void send(google::LogSeverity severity, const char* /*path*/, const char* /*file*/, int /*line*/,
            const google::LogMessageTime& /*time*/, const char* message, std::size_t length) override {
    const std::string text(message, length);
    if (severity != google::GLOG_WARNING || text.find(words_) == std::string::npos) return;
    std::lock_guard<std::mutex> lock(mutex_);
    lines_.push_back(text);
  }
  std::vector<std::string> lines() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return lines_;
  }

 private:
  const std::string words_;
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;  // guarded by mutex_
};

template <class Lock>
class LostLogTest : public ControlledRecipeTest {};

TYPED_TEST_SUITE(LostLogTest, LockTypes, LockTypeNames);

TYPED_TEST(LostLogTest, AnExpiredSession_IsOneLineForEachHold) {
  Connection& connection = this->connect();
  TypeParam lock(connection, this->kPath), other(connection, "/other"), busy(connection, "/busy");
  TypeParam blocker(this->connect(), "/busy");
  const Hold hold = lock.acquire();
  Hold released = other.acquire();
  released.release();
  Hold blocking = blocker.acquire();
  PendingHold waits = busy.acquire_async();  // loses its place in line, which is no hold
  ASSERT_TRUE(this->wait_for_waiters(connection, 1));
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  LossLog log;
  this->expire_session(connection);
  ASSERT_TRUE(lost.wait());
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::connected));
  blocking.release();
  EXPECT_TRUE(this->get(waits).is_valid());
  EXPECT_THAT(log.lines(), ElementsAre(AllOf(HasSubstr(hold.node()), HasSubstr(hold.token().to_string()),
                                             HasSubstr("session is over"))));
}

TYPED_TEST(LostLogTest, ALeaseThatRunsOut_IsNamedAsTheReason) {
  Connection& connection = this->connect_by_proxy(6s);
  TypeParam lock(connection, this->kPath);
  const Hold hold = lock.acquire();
  LossLog log;
  this->proxy().refuse(true);
  ASSERT_TRUE(wait_for([&] { return !hold.is_valid(); }));
  ASSERT_TRUE(wait_for([&] { return !log.lines().empty(); }));
  this->proxy().refuse(false);
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::connected));
  EXPECT_THAT(log.lines(), ElementsAre(AllOf(HasSubstr(hold.node()), HasSubstr(hold.token().to_string()),
                                             HasSubstr("lease ran out"))));
}

TYPED_TEST(LostLogTest, ADeletedNode_IsNamedAsTheReason) {
  TypeParam lock(this->connect(this->options(6s)), this->kPath);
  const Hold hold = lock.acquire();
  LossLog log;
  this->remove_node(hold.node());
  ASSERT_TRUE(wait_for([&] { return !log.lines().empty(); }));
  EXPECT_THAT(log.lines(),
              ElementsAre(AllOf(HasSubstr(hold.node()), HasSubstr(hold.token().to_string()), HasSubstr("deleted"))));
}

TYPED_TEST(LostLogTest, AReleasedHold_IsNotLogged) {
  LossLog log;
  {
    auto connection = std::make_unique<Connection>(this->options());
    ASSERT_TRUE(connection->wait_until_connected(kLimit));
    TypeParam lock(*connection, this->kPath);
    Hold hold = lock.acquire();
    hold.release();
    { const Hold again = lock.acquire(); }
    connection.reset();
  }
  EXPECT_THAT(log.lines(), IsEmpty());
}

class RevocationLogTest : public ControlledRecipeTest {};

TEST_F(RevocationLogTest, ANodeThatCannotBeWatched_IsNamed) {
  create_node(kPath);  // can be listed by all, unlike what the connection creates
  ConnectionOptions unreadable = options();
  unreadable.acl = Acl({{Acl::kAll & ~Acl::kRead, "world", "anyone"}});
  LockOptions lock_options;
  lock_options.on_revoke = [](const std::string&) {};
  FairMutex mutex(connect(unreadable), kPath, lock_options);
  const LossLog log("cannot be watched");
  const Hold hold = mutex.acquire();
  ASSERT_TRUE(wait_for([&] { return !log.lines().empty(); }));
  EXPECT_THAT(log.lines(), ElementsAre(AllOf(HasSubstr(hold.node()), HasSubstr("on_revoke"))));
  EXPECT_TRUE(hold.is_valid());
}

}  // namespace
}  // namespace zkrecipes::testing
