// SPDX-License-Identifier: Apache-2.0
// The code of docs/from-raw-c.md, run: that the lock by hand has its bugs, and that ours has not.
#include <future>
#include <mutex>
#include <zookeeper/zookeeper.h>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

#include <docs/from-raw-c_1.inc>

class FromRawC : public DocsTest {
 protected:
  using Handle = std::unique_ptr<zhandle_t, int (*)(zhandle_t*)>;

  void SetUp() override {
    DocsTest::SetUp();
    if (!IsSkipped()) create_node(kPath);
  }
  Handle open(const std::string& address) {
    Handle handle(zookeeper_init((address + chroot()).c_str(), nullptr, 6'000, nullptr, nullptr, 0), &zookeeper_close);
    wait_until_connected(handle);
    return handle;
  }
  /// A handle that is closed while disconnected leaves its nodes until its session ends.
  static void wait_until_connected(const Handle& handle) {
    EXPECT_TRUE(wait_for([&] { return zoo_state(handle.get()) == ZOO_CONNECTED_STATE; }));
  }
};

TEST_F(FromRawC, TheLockByHand_WorksWhileNothingFails) {
  const Handle first = open(addresses()), second = open(addresses());
  const std::string node = lock_by_hand(first.get(), kPath);
  std::future<std::string> turn = std::async(std::launch::async, [&] { return lock_by_hand(second.get(), kPath); });
  EXPECT_TRUE(wait_for_children(kPath, 2));
  EXPECT_EQ(zoo_delete(first.get(), node.c_str(), -1), ZOK);
  EXPECT_GT(turn.get(), node);
}

TEST_F(FromRawC, Bug1_ALostReplyLeavesANodeThatNobodyKnows) {
  const Handle other = open(addresses()), handle = open(proxy().address());
  EXPECT_NE(lock_by_hand(other.get(), kPath), "");
  proxy().drop_reply(RequestKind::create);
  EXPECT_EQ(lock_by_hand(handle.get(), kPath), "") << "and it has not waited for the other";
  EXPECT_TRUE(wait_for_children(kPath, 2));
  wait_until_connected(handle);
}

TEST_F(FromRawC, Bug2_ALostListingMakesTwoHolders) {
  const Handle first = open(addresses()), second = open(proxy().address());
  const std::string node = lock_by_hand(first.get(), kPath);
  proxy().drop_reply(RequestKind::get_children);
  EXPECT_NE(lock_by_hand(second.get(), kPath), "") << "both hold it now";
  EXPECT_EQ(children(kPath).size(), 2U);
  wait_until_connected(second);
}

TEST_F(FromRawC, Bug3_ALostSessionIsNotNoticed) {
  const Handle first = open(proxy().address()), second = open(addresses());
  EXPECT_NE(lock_by_hand(first.get(), kPath), "");
  proxy().black_hole();
  expire(zoo_client_id(first.get())->client_id);
  EXPECT_NE(lock_by_hand(second.get(), kPath), "") << "the next one has it";
  EXPECT_EQ(zoo_state(first.get()), ZOO_CONNECTED_STATE) << "and the first one believes in its session";
}

TEST_F(FromRawC, Ours_SurvivesALostReplyAndALostListing) {
  Connection& connection = connect_by_proxy();
  FairMutex mutex(connection, "/locks/ours");
  proxy().drop_reply(RequestKind::create);
  Hold hold = mutex.acquire();
  EXPECT_TRUE(hold.is_valid());
  EXPECT_EQ(children("/locks/ours").size(), 1U);
  proxy().drop_reply(RequestKind::get_children);
  EXPECT_FALSE(mutex.try_acquire_for(200ms));
}

TEST_F(FromRawC, TheSameInThreeLines) {
#include <docs/from-raw-c_2.inc>
  EXPECT_TRUE(mutex.is_held());
}

TEST_F(FromRawC, AHandleOfTheProgramWorksAsBefore) {
  create_node("/orders/next");
  const Handle owner = open(addresses());
  zhandle_t* const handle = owner.get();
#include <docs/from-raw-c_3.inc>
  EXPECT_EQ(plain().data(full("/orders/next")), "4711");
  EXPECT_EQ(zoo_exists(handle, "/orders/next", 0, nullptr), ZOK);
  EXPECT_EQ(children(kPath).size(), 0U);
}

TEST_F(FromRawC, TheLogOfTheHandleStaysWhereTheProgramHasSentIt) {
  static std::atomic<int> lines;
  lines = 0;
  const Handle handle = open(proxy().address());
  zoo_set_log_callback(handle.get(), [](const char*) { ++lines; });
  std::atomic<int> passed_on{0};
  ConnectionOptions log_options;
  log_options.log = [&](LogSeverity, const std::string& line) {
    if (line.find("ZOO_") != std::string::npos) ++passed_on;
  };
  Connection connection(handle.get(), log_options);
  EXPECT_TRUE(connection.wait_until_connected(10s));
  lose_connection();
  EXPECT_TRUE(wait_for([] { return lines > 0; }));
  wait_until_connected(handle);
  connection.close();
  EXPECT_EQ(passed_on, 0);
}

TEST_F(FromRawC, Ours_WaitsForALockByHand) {
  const Handle handle = open(addresses());
  const std::string node = lock_by_hand(handle.get(), kPath);
  FairMutex mutex(connect(), kPath);
  EXPECT_EQ(mutex.try_acquire().status(), AcquireStatus::busy);
  EXPECT_EQ(zoo_delete(handle.get(), node.c_str(), -1), ZOK);
  EXPECT_TRUE(mutex.try_acquire());
}

}  // namespace
}  // namespace zkrecipes::testing
