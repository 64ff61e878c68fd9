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

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A client with one address, a follower's, holds a mutex.
class LeaseGapTest : public ::testing::Test {
 protected:
  struct Scene {
    explicit Scene(std::uint64_t seed) : scheduler(seed), ensemble(scheduler, trace, options()) {
      scheduler.run_until(seconds(5));
      follower = (ensemble.leader() + 1) % ensemble.size();
      ConnectionOptions wanted;
      wanted.servers = ensemble.address(follower);
      wanted.session_timeout = kTimeout;
      connection = std::make_unique<SimulatedConnection>(wanted, world);
      lock = std::make_unique<SimulatedLock>(*connection, LockKind::fair, "/lock", 1, LockOptions{});
      PendingHold pending = lock->acquire_async();
      while (!pending.ready()) scheduler.step();
      hold = pending.get();
    }
    ~Scene() {
      process.kill();
      ensemble.process_died(process.number());
    }
    static EnsembleOptions options() {
      EnsembleOptions options;
      options.tick = milliseconds(1'000);
      options.sync_limit = 10;
      return options;
    }
    void run(milliseconds time) { scheduler.run_until(scheduler.now() + time); }

    Scheduler scheduler;
    Trace trace{scheduler};
    Ensemble ensemble;
    NameService names{ensemble};
    Process process{scheduler, 1};
    const std::shared_ptr<SimulatedWorld> world = std::make_shared<SimulatedWorld>(process, ensemble, names);
    int follower = 0;
    std::unique_ptr<SimulatedConnection> connection;
    std::unique_ptr<SimulatedLock> lock;
    Hold hold;
  };

  /// `disturb` ends with the follower in touch with the client and with the leader; then the follower is cut off.
  template <class Disturb>
  static void expect_no_gap(const Disturb& disturb) {
    int too_long = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      Scene scene(seed);
      scene.run(milliseconds(1'000 + static_cast<int>(seed) * 10));
      disturb(scene);
      for (int other = 0; other < scene.ensemble.size(); ++other)
        if (other != scene.follower) scene.ensemble.set_server_link(scene.follower, other, Ensemble::LinkFault::silent);
      const auto sessions = scene.ensemble.sessions();
      if (sessions.empty()) continue;  // already expired
      while (scene.ensemble.has_session(sessions.front())) scene.scheduler.step();
      if (scene.hold.valid_until() > scene.world->now()) ++too_long;
    }
    EXPECT_EQ(too_long, 0) << "times of 100 the session had expired while the hold was valid";
  }

  static constexpr milliseconds kTimeout{4'000};
};

constexpr milliseconds LeaseGapTest::kTimeout;

// A request that a follower forwards does not touch the session at the leader; only the follower's answer to the
// leader's next ping does. Requests that the network has held back arrive together with the one that renews the lease.
TEST_F(LeaseGapTest, RequestsHeldBackByTheNetwork_DoNotMakeTheLeaseTooLong) {
  expect_no_gap([](Scene& scene) {
    scene.ensemble.set_client_link(1, scene.follower, Ensemble::LinkFault::silent);
    scene.run(milliseconds(1'800));
    scene.ensemble.set_client_link(1, scene.follower, Ensemble::LinkFault::none);
    scene.run(milliseconds(250));
  });
}

// The follower serves reads all the time, and has nothing to report before it is cut off again.
TEST_F(LeaseGapTest, PingsHeldBackByTheNetwork_DoNotMakeTheLeaseTooLong) {
  for (const auto again : {milliseconds(5), milliseconds(20), milliseconds(100), milliseconds(400)})
    expect_no_gap([again](Scene& scene) {
      const int leader = scene.ensemble.leader();
      scene.ensemble.set_server_link(scene.follower, leader, Ensemble::LinkFault::silent);
      scene.run(milliseconds(2'500));
      scene.ensemble.set_server_link(scene.follower, leader, Ensemble::LinkFault::none);
      scene.run(again);
    });
}

// A process that was paused renews its lease as soon as it goes on.
TEST_F(LeaseGapTest, APauseOfTheClient_DoesNotMakeTheLeaseTooLong) {
  expect_no_gap([](Scene& scene) {
    scene.process.pause();
    scene.run(milliseconds(2'000));
    scene.process.resume();
    scene.run(milliseconds(200));
  });
}

}  // namespace
}  // namespace zkrecipes::simulation
