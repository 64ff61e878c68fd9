// SPDX-License-Identifier: Apache-2.0
// Errors that leave the connection up: a server that throttles gets fewer requests, not more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <zookeeper/zookeeper.h>

#include "tests/support/fixture.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::Status;
using ::testing::IsEmpty;

class Throttling : public ControlledServerTest {
 protected:
  static constexpr int kForEver = 10'000;

  /// How many requests of the kind pass in two seconds.
  long requests_in_two_seconds(RequestKind kind) {
    const auto begin = Clock::now();
    const long before = proxy().counts().of(kind);
    wait_for([&] { return Clock::now() > begin + 2s; });
    return proxy().counts().of(kind) - before;
  }
};

TEST_F(Throttling, OfARead_IsRepeatedLessAndLessOften) {
  Connection& connection = connect_by_proxy();
  const SyncClient client(connection);
  const StateLog log(connection);
  proxy().answer_with_error(RequestKind::get_children, ZTHROTTLEDOP, kForEver);
  const auto listed = client.begin(detail::RequestKind::list, "/");
  const long repeats = requests_in_two_seconds(RequestKind::get_children);
  std::cout << repeats << " repeats in 2 s\n";
  EXPECT_GE(repeats, 3);
  EXPECT_LE(repeats, 30);
  EXPECT_FALSE(listed.ready());
  proxy().clear_faults();
  EXPECT_EQ(listed.part().status, Status::ok);
  EXPECT_THAT(log.states(), IsEmpty()) << "the connection was up all the time";
}

TEST_F(Throttling, OfACreate_IsRepeatedLessAndLessOften) {
  Connection& connection = connect_by_proxy();
  FairMutex lock(connection, "/lock");
  const StateLog log(connection);
  proxy().answer_with_error(RequestKind::create, ZTHROTTLEDOP, kForEver);
  PendingHold pending = lock.acquire_async();
  const long repeats = requests_in_two_seconds(RequestKind::create);
  std::cout << repeats << " repeats in 2 s\n";
  EXPECT_GE(repeats, 2);
  EXPECT_LE(repeats, 30);
  EXPECT_FALSE(pending.ready());
  proxy().clear_faults();
  EXPECT_TRUE(pending.get().is_valid());
  EXPECT_THAT(log.states(), IsEmpty());
}

TEST_F(Throttling, OfARemoval_IsRepeatedLessAndLessOften) {
  Connection& connection = connect_by_proxy();
  FairMutex lock(connection, "/lock");
  Hold hold = lock.acquire();
  const StateLog log(connection);
  proxy().answer_with_error(RequestKind::remove, ZTHROTTLEDOP, kForEver);
  { const Hold released = std::move(hold); }
  const long repeats = requests_in_two_seconds(RequestKind::remove);
  std::cout << repeats << " repeats in 2 s\n";
  EXPECT_LE(repeats, 30);
  proxy().clear_faults();
  EXPECT_TRUE(wait_for([&] { return plain().ephemerals_below(chroot()).empty(); }));
  EXPECT_THAT(log.states(), IsEmpty());
}

TEST_F(Throttling, OfAFewHeartbeats_LosesNoHold) {
  Connection& connection = connect_by_proxy(6s);
  FairMutex lock(connection, "/lock");
  const Hold hold = lock.acquire();
  const StateLog log(connection);
  proxy().answer_with_error(RequestKind::set_data, ZTHROTTLEDOP, 3);
  EXPECT_TRUE(proxy().wait_until_fired(kLimit));
  const auto until = hold.valid_until();
  EXPECT_TRUE(wait_for([&] { return hold.valid_until() > until + 1s; })) << "the lease is renewed";
  EXPECT_TRUE(hold.is_valid());
  EXPECT_THAT(log.states(), IsEmpty());
}

}  // namespace
}  // namespace zkrecipes::testing
