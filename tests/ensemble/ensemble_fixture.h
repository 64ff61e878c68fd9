// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/fixture.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {

/// Three members with links that can be cut. The tick is short, so that the tests are; ZKRECIPES_ENSEMBLE_TICK_MS=2000
/// runs them with ZooKeeper's usual one and with more session timeouts, and --gtest_repeat makes a soak of them.
class FaultyEnsembleTest : public EnsembleTest {
 protected:
  using Milliseconds = std::chrono::milliseconds;

  void SetUp() override {
    if (external_servers()) GTEST_SKIP() << "needs servers that it can control";
    EnsembleTest::SetUp();
    if (const char* const tick = std::getenv("ZKRECIPES_ENSEMBLE_TICK_MS")) {
      tick_ = Milliseconds(std::stol(tick));
      lengths_ = {3, 5};
    }
  }
  /// Session timeouts to try, in ticks; three is the smallest that makes sense.
  const std::vector<int>& lengths() const { return lengths_; }

  /// `sync_limit`: for how many ticks a member that is cut off silently continues to serve reads, or to lead.
  TestEnsemble& start(int sync_limit, bool process_per_member = false) {
    ServerOptions options;
    options.tick_time = tick_;
    options.controlled_links = true;
    options.process_per_member = process_per_member;
    options.sync_limit = sync_limit;
    return use_ensemble(options);
  }
  Milliseconds ticks(int number) const { return number * tick_; }

  /// The addresses of all members but one.
  std::string others(int member) const {
    std::string list;
    for (int each = 0; each < ensemble().size(); ++each)
      if (each != member) list += (list.empty() ? "" : ",") + ensemble().address(each);
    return list;
  }

 private:
  Milliseconds tick_{500};
  std::vector<int> lengths_{3};
};

inline double to_seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace zkrecipes::testing
