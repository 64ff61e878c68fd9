// SPDX-License-Identifier: Apache-2.0
// The code of docs/waiting, run. The included files are made from the pages.
#include "tests/waiting/docs_test.h"

#include <boost/asio/use_future.hpp>
#include <future>
#include <iostream>
#include <mutex>

namespace zkrecipes::testing {
namespace {

TEST_F(DocsTest, Blocking_ALockGuard) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <blocking_1.inc>
  EXPECT_EQ(store.writes, 1);
}

TEST_F(DocsTest, Blocking_ATimeLimit) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <blocking_2.inc>
  EXPECT_EQ(store.writes, 1);
}

TEST_F(DocsTest, Blocking_AStop) {
  Store store;
  FairMutex mutex(connect(), kPath);
  const Hold other = mutex.acquire();
#include <blocking_3.inc>
  EXPECT_EQ(store.writes, 0);
}

TEST_F(DocsTest, Callback_WithADeadline) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <callback_1.inc>
  EXPECT_TRUE(wait_for([&] { return store.writes == 1; }));
}

TEST_F(DocsTest, Callback_Cancelled) {
  Store store;
  FairMutex mutex(connect(), kPath);
  const Hold other = mutex.acquire();
  {
#include <callback_2.inc>
    EXPECT_TRUE(wait_for([&] { return store.forgotten > 0; }));
  }
  EXPECT_EQ(store.forgotten, 1);
}

TEST_F(DocsTest, Callback_Polling) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <callback_3.inc>
  EXPECT_TRUE(hold.is_valid());
}

TEST_F(DocsTest, Asio_Callback) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <asio_1.inc>
  EXPECT_EQ(store.writes, 1);
}

TEST_F(DocsTest, Asio_Future) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <asio_4.inc>
  EXPECT_EQ(store.writes, 1);
}

TEST_F(DocsTest, Asio_APendingHold) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <asio_5.inc>
  EXPECT_EQ(store.writes, 1);
}

}  // namespace
}  // namespace zkrecipes::testing
