// SPDX-License-Identifier: Apache-2.0
// The code of docs/fencing.md, run.
#include <mutex>
#include <vector>
#include <zookeeper/zookeeper.h>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

#include <docs/fencing_1.inc>

TEST_F(DocsTest, Fencing_AServiceRefusesALateWrite) {
  FairMutex mutex(connect(), kPath);
  const std::string early = mutex.acquire().token().to_string();
  const std::string later = mutex.acquire().token().to_string();
  Orders orders;
  EXPECT_TRUE(orders.write("a", early));
  EXPECT_TRUE(orders.write("b", early));
  EXPECT_TRUE(orders.write("c", later));
  EXPECT_FALSE(orders.write("d", early));
  EXPECT_THROW(orders.write("e", "12x"), std::invalid_argument);
}

TEST_F(DocsTest, Fencing_AnotherNodeIsWrittenWhileTheLockNodeExists) {
  create_node("/config/current", "old");
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  const std::unique_ptr<zhandle_t, int (*)(zhandle_t*)> owner(
      zookeeper_init((addresses() + chroot()).c_str(), nullptr, 20'000, nullptr, nullptr, 0), &zookeeper_close);
  zhandle_t* const handle = owner.get();
  ASSERT_TRUE(wait_for([&] { return zoo_state(handle) == ZOO_CONNECTED_STATE; }));
  const auto write = [&](const std::string& text) {
#include <docs/fencing_2.inc>
    return result;
  };
  EXPECT_EQ(write("first"), ZOK);
  EXPECT_EQ(plain().data(full("/config/current")), "first");
  expire_session(connection);
  EXPECT_EQ(write("late"), ZNONODE);
  EXPECT_EQ(plain().data(full("/config/current")), "first");
}

TEST_F(DocsTest, Fencing_AWriteGetsLessTimeThanTheLeaseHasLeft) {
  FairMutex mutex(connect(), kPath);
  const Hold hold = mutex.acquire();
  int sent = 0;
  const auto write = [&] {
    const int order = 1;
    const auto give_up = [] { FAIL() << "20 s are enough"; };
    const auto send = [&](int, std::chrono::seconds) { ++sent; };
#include <docs/fencing_3.inc>
  };
  write();
  EXPECT_EQ(sent, 1);
}

}  // namespace
}  // namespace zkrecipes::testing
