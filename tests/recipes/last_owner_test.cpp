// SPDX-License-Identifier: Apache-2.0
// Code of the program that runs on threads which the library itself depends on: destructors of what callbacks own, and
// log sinks. A close() there must not wait for the thread that it is on.
#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

/// Owns a connection, as a service does, and says when both are gone.
struct Service {
  Service(std::shared_ptr<Connection> its, CallCount counter) : connection(std::move(its)), gone(std::move(counter)) {}
  ~Service() {
    connection.reset();
    gone.handler()();
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  std::shared_ptr<Connection> connection;
  const CallCount gone;
};

template <class Lock>
class LastOwnerTest : public ControlledRecipeTest {};

TYPED_TEST_SUITE(LastOwnerTest, LockTypes, LockTypeNames);

TYPED_TEST(LastOwnerTest, OnRevoke_MayOwnTheConnectionAndEndWithTheLastRequest) {
  for (int n = 0; n < 20; ++n) {
    CallCount gone;
    auto connection = std::make_shared<Connection>(this->options());
    ASSERT_TRUE(connection->wait_until_connected(kLimit));
    LockOptions options;
    options.on_revoke = [service = std::make_shared<Service>(connection, gone)](const std::string&) {};
    auto lock = std::make_unique<TypeParam>(*connection, this->kPath, options);
    options.on_revoke = nullptr;
    PendingHold pending = lock->acquire_async();
    lock.reset();
    connection.reset();
    pending = PendingHold();  // the requests that are under way are the last owners now
    ASSERT_TRUE(gone.wait()) << "round " << n;
    EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
  }
}

/// The sink lives as long as the connection, so what it uses belongs to the fixture or to the sink.
class LogSinkTest : public ControlledRecipeTest {};

TEST_F(LogSinkTest, MayCloseTheConnection) {
  CallCount closed;
  const auto connection = std::make_shared<std::atomic<Connection*>>(nullptr);
  ConnectionOptions own = options();
  own.log = [connection, closed](LogSeverity, const std::string&) {
    if (Connection* const known = connection->exchange(nullptr)) {
      known->close();
      closed.handler()();
    }
  };
  Connection& made = connect(own);
  FairMutex lock(made, kPath);
  const Hold hold = lock.acquire();
  *connection = &made;
  expire_session(made);
  ASSERT_TRUE(closed.wait());
  EXPECT_EQ(made.state(), ConnectionState::closed);
  EXPECT_FALSE(hold.is_valid());
  made.close();  // waits for what is left
}

TEST_F(LogSinkTest, BlockingCalls_AreRefused) {
  CallCount refused;
  const auto mutex = std::make_shared<std::atomic<FairMutex*>>(nullptr);
  ConnectionOptions own = options();
  own.log = [mutex, refused](LogSeverity, const std::string&) {
    FairMutex* const lock = mutex->exchange(nullptr);
    if (lock == nullptr) return;
    EXPECT_THROW(static_cast<void>(lock->try_acquire()), std::logic_error);
    refused.handler()();
  };
  Connection& connection = connect(own);
  FairMutex lock(connection, kPath);
  Hold hold = lock.acquire();
  *mutex = &lock;
  expire_session(connection);
  EXPECT_TRUE(refused.wait());
}

}  // namespace
}  // namespace zkrecipes::testing
