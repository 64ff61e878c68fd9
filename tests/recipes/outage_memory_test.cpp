// SPDX-License-Identifier: Apache-2.0
// Acquires that end while there is no server leave nothing behind.
#include <fstream>
#include <iostream>
#include <malloc.h>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

long resident_kb() {
  malloc_trim(0);
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmRSS:", 0) == 0) return std::stol(line.substr(6));
  return 0;
}

template <class Lock>
class OutageMemoryTest : public ControlledRecipeTest {
 protected:
  static constexpr int kCancelled = 200'000;
  static constexpr int kTimedOut = 1'000;

  static void give_up_often(Connection& connection) {
    Lock lock(connection, kPath);
    const auto give_up = [&](int cancelled, int timed_out) {
      for (int n = 0; n < cancelled; ++n) static_cast<void>(lock.acquire_async());
      for (int n = 0; n < timed_out; ++n) EXPECT_FALSE(lock.try_acquire_for(1ms));
    };
    give_up(kCancelled / 10, kTimedOut / 10);
    const long before = resident_kb();
    give_up(kCancelled, kTimedOut);
    EXPECT_TRUE(wait_for([&] { return load_of(connection).requests == 0; })) << load_of(connection).requests;
    long grown = 0;
    // Acquires that were cancelled last may not be freed yet.
    const bool flat = wait_for([&] { return (grown = resident_kb() - before) < 4'000; }, 5s);
    std::cout << kCancelled << " cancelled and " << kTimedOut << " timed out: memory grew by " << grown << " kB\n";
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_TRUE(flat);
#else
    static_cast<void>(flat);
#endif
  }
};

TYPED_TEST_SUITE(OutageMemoryTest, LockTypes, LockTypeNames);

TYPED_TEST(OutageMemoryTest, AcquiresGivenUpBeforeThereIsASession_LeaveNothing) {
  this->proxy().refuse(true);
  this->give_up_often(this->begin_connect(this->options_by_proxy(60s)));
}

TYPED_TEST(OutageMemoryTest, AcquiresGivenUpWhileSuspended_LeaveNothing) {
  Connection& connection = this->connect_by_proxy(60s);
  this->proxy().refuse(true);
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::suspended));
  this->give_up_often(connection);
  EXPECT_EQ(connection.state(), ConnectionState::suspended);
}

}  // namespace
}  // namespace zkrecipes::testing
