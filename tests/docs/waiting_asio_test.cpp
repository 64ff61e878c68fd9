// SPDX-License-Identifier: Apache-2.0
// The code of docs/waiting/asio.md, run. Boost.Asio of Boost 1.74 has no coroutines with clang.
// clang-format off
#include <utility>  // first: awaitable.hpp of Boost 1.74 needs it and does not include it
// clang-format on
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#if ZKRECIPES_HAS_ASIO_COROUTINES
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#endif

#include "tests/docs/docs_test.h"
#include "zkrecipes/asio.h"

namespace zkrecipes::testing {
namespace {

TEST_F(DocsTest, Asio_Callback) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <docs/waiting/asio_1.inc>
  EXPECT_EQ(store.writes, 1);
}

TEST_F(DocsTest, Asio_Future) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <docs/waiting/asio_4.inc>
  EXPECT_EQ(store.writes, 1);
}

TEST_F(DocsTest, Asio_APendingHold) {
  Store store;
  ReadWriteLock catalogue(connect(), kPath);
#include <docs/waiting/asio_5.inc>
  EXPECT_EQ(store.writes, 1);
}

#if ZKRECIPES_HAS_ASIO_COROUTINES
namespace of_asio {  // another page has a write(), too

#include <docs/waiting/asio_2.inc>

TEST_F(DocsTest, Asio_Coroutine) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <docs/waiting/asio_3.inc>
  EXPECT_EQ(store.writes, 1);
}

}  // namespace of_asio
#endif

}  // namespace
}  // namespace zkrecipes::testing
