// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "tests/simulation/model/ensemble.h"
#include "tests/simulation/simulated_locks.h"
#include "tests/simulation/simulated_world.h"

namespace zkrecipes::simulation {
namespace {

using LinkFault = Ensemble::LinkFault;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A client that knows the two followers. The test decides which of them it can reach.
class MovedSessionTest : public ::testing::Test {
 protected:
  MovedSessionTest() {
    scheduler.run_until(seconds(5));
    leader = ensemble.leader();
    slow = (leader + 1) % ensemble.size();
    other = (leader + 2) % ensemble.size();
    reach(other);
    ConnectionOptions wanted;
    wanted.servers = ensemble.address(slow) + "," + ensemble.address(other);
    wanted.session_timeout = seconds(20);
    connection = std::make_unique<SimulatedConnection>(wanted, world);
    lock = std::make_unique<SimulatedLock>(*connection, LockKind::fair, "/lock", 1, LockOptions{});
    take_turn(lock->acquire_async());
  }
  ~MovedSessionTest() override {
    process.kill();
    ensemble.process_died(process.number());
  }
  static EnsembleOptions options() {
    EnsembleOptions options;
    options.tick = milliseconds(1'000);
    options.sync_limit = 20;
    return options;
  }

  void run(milliseconds time) { scheduler.run_until(scheduler.now() + time); }
  /// The client goes to this server. It leaves one that has not answered yet when its patience is over.
  void reach(int server) {
    ensemble.set_client_link(process.number(), server, LinkFault::none);
    ensemble.drop_connection(process.number(), Ensemble::Loss::replies);
    run(milliseconds(20));  // a client behind a link that is cut would not hear of the reset
    ensemble.set_client_link(process.number(), server == slow ? other : slow, LinkFault::cut);
    run(seconds(4));
  }
  /// Waits until it is granted, and releases it.
  void take_turn(PendingHold pending) {
    const Time limit = scheduler.now() + seconds(30);
    while (!pending.ready() && scheduler.now() < limit) scheduler.step();
    ASSERT_TRUE(pending.ready());
    EXPECT_TRUE(pending.get().is_valid());
  }
  std::string nodes_of_contenders() const {
    std::string found;
    ensemble.for_each_node([&](const Ensemble::Node& node) {
      if (node.owner != 0) found += std::string(node.path) + " ";
    });
    return found;
  }

  Scheduler scheduler{1};
  Trace trace{scheduler};
  Ensemble ensemble{scheduler, trace, options()};
  NameService names{ensemble};
  Process process{scheduler, 1};
  const std::shared_ptr<SimulatedWorld> world = std::make_shared<SimulatedWorld>(process, ensemble, names);
  int leader = 0;
  int slow = 0;
  int other = 0;
  std::unique_ptr<SimulatedConnection> connection;
  std::unique_ptr<SimulatedLock> lock;
};

// A follower asks the leader whether a session may move to it, and takes any answer about the session for one about the
// connection that it has now. So a client may believe that it is connected while the question is still on its way. When
// that arrives it brings the session back, and all requests behind it are carried out, although the client has left.
TEST_F(MovedSessionTest, AServerThatWasLeftAndTriedAgain_CarriesOutNothingLater) {
  ensemble.set_server_link_one_way(slow, leader, LinkFault::silent);
  reach(slow);  // the first question
  reach(other);
  ensemble.set_server_link_one_way(leader, slow, LinkFault::silent);
  ensemble.set_server_link_one_way(slow, leader, LinkFault::none);
  run(milliseconds(5));  // is answered, but the answer is not received
  ensemble.set_server_link_one_way(slow, leader, LinkFault::silent);
  reach(slow);  // the second question
  ensemble.set_server_link_one_way(leader, slow, LinkFault::none);
  run(milliseconds(50));  // the answer to the first one
  PendingHold pending = lock->acquire_async();
  run(milliseconds(200));
  ASSERT_FALSE(pending.ready());
  reach(other);
  take_turn(std::move(pending));
  ensemble.set_server_link_one_way(slow, leader, LinkFault::none);
  run(seconds(2));
  EXPECT_EQ(nodes_of_contenders(), "");
  take_turn(lock->acquire_async());
}

}  // namespace
}  // namespace zkrecipes::simulation
