// SPDX-License-Identifier: Apache-2.0
// The code of docs/waiting/asio.md that needs coroutines of Asio, run. The included files are made from the page.
// clang-format off
#include <utility>  // first: awaitable.hpp of Boost 1.74 needs it and does not include it
// clang-format on
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "tests/waiting/docs_test.h"

namespace zkrecipes::testing {
namespace {

#include <asio_2.inc>

TEST_F(DocsTest, Asio_Coroutine) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <asio_3.inc>
  EXPECT_EQ(store.writes, 1);
}

}  // namespace
}  // namespace zkrecipes::testing
