// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "testkit/child_process.h"
#include "tests/support/fixture.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {

using namespace std::chrono_literals;

/// What the pages write to.
struct Store {
  void write(FencingToken token) {
    EXPECT_GT(token.zxid, 0);
    ++writes;
  }
  template <class Data>
  void write(const Data&, FencingToken token) {
    write(token);
  }
  void forget() { ++forgotten; }
  std::atomic<int> writes{0};
  std::atomic<int> forgotten{0};
};

/// Runs the code of the pages against a server. The files that the tests include are made from the pages by
/// extract_blocks: <docs/fencing_1.inc> is the first block of C++ in docs/fencing.md.
class DocsTest : public ControlledServerTest {
 protected:
  static constexpr const char* kPath = "/locks/orders";

  /// Stands in the blocks where the page names servers.
  std::string docs_servers() const { return addresses() + chroot(); }

  /// Starts the program that a page shows, such as "README_1", on the servers of this test, in its chroot.
  std::unique_ptr<testkit::ChildProcess> start(const std::string& program) {
    setenv("ZKRECIPES_DOCS_SERVERS", docs_servers().c_str(), 1);
    return std::make_unique<testkit::ChildProcess>(
        std::vector<std::string>{std::string(ZKRECIPES_DOCS_PROGRAMS) + "/" + program});
  }
};

}  // namespace zkrecipes::testing
