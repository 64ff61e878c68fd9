// SPDX-License-Identifier: Apache-2.0
// The code of docs/waiting/blocking.md, run.
#include <iostream>
#include <mutex>
#include <thread>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

TEST_F(DocsTest, Blocking_ALockGuard) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <docs/waiting/blocking_1.inc>
  EXPECT_EQ(store.writes, 1);
}

TEST_F(DocsTest, Blocking_ATimeLimit) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <docs/waiting/blocking_2.inc>
  EXPECT_EQ(store.writes, 1);
}

TEST_F(DocsTest, Blocking_AStop) {
  Store store;
  FairMutex mutex(connect(), kPath);
  const Hold other = mutex.acquire();
#include <docs/waiting/blocking_3.inc>
  EXPECT_EQ(store.writes, 0);
}

TEST_F(DocsTest, Blocking_TheMutexKnowsOfALoss) {
  Store store;
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
#include <docs/waiting/blocking_4.inc>
  EXPECT_EQ(store.writes, 3);
  EXPECT_FALSE(stop.stop_requested());
  expire_session(connection);
  EXPECT_TRUE(wait_for([&] { return stop.stop_requested(); }));
  EXPECT_FALSE(mutex.is_held());
}

#include <docs/waiting/blocking_5.inc>

TEST_F(DocsTest, Blocking_AMutexOfTheStandardLibraryInItsPlace) {
  std::vector<std::string> orders;
  std::timed_mutex plain_mutex;
  FairMutex mutex(connect(), kPath);
  EXPECT_TRUE(append(plain_mutex, orders, "a"));
  EXPECT_TRUE(append(mutex, orders, "b"));
  EXPECT_EQ(orders.size(), 2U);
}

}  // namespace
}  // namespace zkrecipes::testing
