// SPDX-License-Identifier: Apache-2.0
// Facts about an ensemble that clients cannot script on a real one, or not in reasonable time.
#include "tests/simulation/model/ensemble.h"

#include <gtest/gtest.h>

#include "tests/simulation/model/simulated_client.h"

namespace zkrecipes::simulation {
namespace {

using detail::CreateMode;
using detail::Request;
using detail::RequestKind;
using detail::Status;
using std::chrono::milliseconds;
using std::chrono::seconds;

Request create(std::string path, CreateMode mode = CreateMode::persistent) {
  Request request{RequestKind::create, std::move(path)};
  request.mode = mode;
  return request;
}
Request remove(std::string path) {
  return {RequestKind::remove, std::move(path)};
}
Request exists(std::string path) {
  return {RequestKind::exists, std::move(path)};
}
Request sync() {
  return {RequestKind::sync, "/"};
}

class EnsembleModel : public ::testing::Test {
 protected:
  void start(const EnsembleOptions& options = {}) {
    ensemble.emplace(scheduler, trace, options);
    ASSERT_TRUE(run_until([&] { return has_leader_and_all(); }));
    leader = ensemble->leader();
    for (int server = 0; server < ensemble->size(); ++server)
      if (server != leader) followers.push_back(server);
  }
  bool has_leader_and_all() { return ensemble->leader() != -1 && ensemble->has_quorum(); }

  template <class Condition>
  bool run_until(const Condition& condition, Time patience = seconds(120)) {
    const Time end = scheduler.now() + patience;
    while (!condition()) {
      if (scheduler.now() > end || !scheduler.step()) return false;
    }
    return true;
  }
  void run_for(Time time) { scheduler.run_until(scheduler.now() + time); }

  Scheduler scheduler{1};
  Trace trace{scheduler};
  std::optional<Ensemble> ensemble;
  int leader = -1;
  std::vector<int> followers;
};

TEST_F(EnsembleModel, ASession_CanCreateAndSeeNodes) {
  start();
  SimulatedClient client(scheduler, *ensemble, 1);
  client.connect(followers[0], seconds(10));
  ASSERT_TRUE(client.wait_until_connected());
  EXPECT_EQ(Status::ok, client.call(create("/a")));
  EXPECT_EQ(Status::node_exists, client.call(create("/a")));
  EXPECT_EQ(Status::ok, client.call(create("/a/b", CreateMode::ephemeral)));
  EXPECT_EQ(Status::not_empty, client.call(remove("/a")));
  EXPECT_EQ(Status::ok, client.call(exists("/a/b")));
  EXPECT_EQ(2U, ensemble->node_count());
  client.handle.reset();
  run_for(seconds(1));
  EXPECT_EQ(1U, ensemble->node_count());
  EXPECT_EQ(0U, ensemble->load().connections);
}

// A leader that is cut off does not know it. It answers reads and sync, and cannot commit. On a real ensemble this
// takes half a minute with the default ticks.
TEST_F(EnsembleModel, ALeaderThatIsCutOff_AnswersSyncButNoWriteUntilItNotices) {
  start();
  SimulatedClient client(scheduler, *ensemble, 1);
  client.connect(leader, seconds(30));
  ASSERT_TRUE(client.wait_until_connected());
  ASSERT_EQ(Status::ok, client.call(create("/a")));
  for (const int follower : followers) ensemble->set_server_link(leader, follower, Ensemble::LinkFault::silent);
  run_for(seconds(1));
  EXPECT_EQ(Status::ok, client.call(sync(), seconds(1)));
  EXPECT_EQ(Status::ok, client.call(exists("/a"), seconds(1)));
  const std::uint64_t write = client.send(create("/b"));
  EXPECT_EQ(nullptr, client.reply(write, seconds(5)));
  // Its followers notice within the sync limit of 10 s, and elect another one.
  ASSERT_TRUE(run_until([&] { return ensemble->leader() != leader && ensemble->has_quorum(); }, seconds(14)));
  ASSERT_TRUE(client.wait([&] { return !client.is_connected(); }, seconds(14)));
  EXPECT_FALSE(ensemble->find_node("/b"));
  ensemble->heal_links();
  run_for(seconds(5));
  EXPECT_FALSE(ensemble->find_node("/b"));  // the old leader's proposal was truncated
}

TEST_F(EnsembleModel, ALeaderThatWasPaused_StepsDownAtItsNextCheck) {
  start();
  SimulatedClient client(scheduler, *ensemble, 1);
  client.connect(leader, seconds(40));
  ASSERT_TRUE(client.wait_until_connected());
  ensemble->pause(leader);
  ASSERT_TRUE(run_until([&] { return ensemble->leader() != leader && ensemble->has_quorum(); }, seconds(14)));
  const std::uint64_t late = client.send(sync());
  run_for(seconds(1));
  EXPECT_EQ(nullptr, client.find(late));
  ensemble->resume(leader);
  // The packets in its sockets may be read before it learns that its followers have left.
  EXPECT_TRUE(client.wait([&] { return !client.is_connected(); }, milliseconds(2100)));
}

TEST_F(EnsembleModel, AFollowerThatIsCutOff_ReadsOldDataForTheSyncLimit) {
  start();
  SimulatedClient reader(scheduler, *ensemble, 1);
  SimulatedClient writer(scheduler, *ensemble, 2);
  reader.connect(followers[0], seconds(30));
  writer.connect(followers[1], seconds(30));
  ASSERT_TRUE(reader.wait_until_connected());
  ASSERT_TRUE(writer.wait_until_connected());
  for (int other = 0; other < 3; ++other)
    if (other != followers[0]) ensemble->set_server_link(followers[0], other, Ensemble::LinkFault::silent);
  const Time begin = scheduler.now();
  ASSERT_EQ(Status::ok, writer.call(create("/new")));
  EXPECT_EQ(Status::no_node, reader.call(exists("/new"), seconds(1)));
  EXPECT_EQ(nullptr, reader.reply(reader.send(sync()), seconds(5)));
  ASSERT_TRUE(reader.wait([&] { return !reader.is_connected(); }, seconds(20)));
  const Time end = scheduler.now();
  EXPECT_GE(end - begin, seconds(8));
  EXPECT_LE(end - begin, seconds(11));
}

TEST_F(EnsembleModel, AFollowerThatLags_ShowsOldDataUntilItsClientSyncs) {
  start();
  SimulatedClient reader(scheduler, *ensemble, 1);
  SimulatedClient writer(scheduler, *ensemble, 2);
  reader.connect(followers[0], seconds(30));
  writer.connect(leader, seconds(30));
  ASSERT_TRUE(reader.wait_until_connected());
  ASSERT_TRUE(writer.wait_until_connected());
  ensemble->set_lag(followers[0], milliseconds(500));
  ASSERT_EQ(Status::ok, writer.call(create("/new")));
  EXPECT_EQ(Status::no_node, reader.call(exists("/new"), milliseconds(100)));
  EXPECT_EQ(Status::ok, reader.call(sync()));
  EXPECT_EQ(Status::ok, reader.call(exists("/new")));
}

TEST_F(EnsembleModel, TwoOfThreeServersCommit_OneDoesNot) {
  start();
  SimulatedClient client(scheduler, *ensemble, 1);
  client.connect(leader, seconds(30));
  ASSERT_TRUE(client.wait_until_connected());
  ensemble->kill(followers[0]);
  EXPECT_EQ(Status::ok, client.call(create("/two")));
  ensemble->kill(followers[1]);
  EXPECT_EQ(nullptr, client.reply(client.send(create("/one")), milliseconds(500)));
  EXPECT_FALSE(ensemble->has_quorum());
  ensemble->restart(followers[0]);
  EXPECT_TRUE(run_until([&] { return ensemble->has_quorum(); }, seconds(30)));
  EXPECT_TRUE(ensemble->find_node("/two"));
}

// The leader learns of activity at a follower up to half a tick later, and looks at the end of a tick. So a session
// ends between T and T + 1.5 ticks after its last request.
TEST_F(EnsembleModel, ASessionThatFallsSilent_ExpiresWithinItsTimeoutAndOneAndAHalfTicks) {
  start();
  for (int run = 0; run < 40; ++run) {
    SimulatedClient client(scheduler, *ensemble, 10 + run);
    client.connect(run % 3, seconds(6));
    ASSERT_TRUE(client.wait_until_connected());
    ASSERT_EQ(Status::ok, client.call(create("/e", CreateMode::ephemeral)));
    run_for(milliseconds(100 * run));
    ASSERT_EQ(Status::ok, client.call(exists("/e")));
    const Time last = scheduler.now();
    client.process.kill();
    ensemble->process_died(10 + run);
    ASSERT_TRUE(run_until([&] { return !ensemble->find_node("/e"); }));
    EXPECT_GE(scheduler.now() - last, milliseconds(5990)) << run;
    EXPECT_LE(scheduler.now() - last, milliseconds(9050)) << run;
    EXPECT_TRUE(ensemble->sessions().empty());
  }
}

TEST_F(EnsembleModel, ANewLeader_CountsSessionsFromWhenItBegins) {
  start();
  SimulatedClient client(scheduler, *ensemble, 1);
  client.connect(followers[0], seconds(6));
  ASSERT_TRUE(client.wait_until_connected());
  ASSERT_EQ(Status::ok, client.call(create("/e", CreateMode::ephemeral)));
  client.process.kill();
  ensemble->process_died(1);
  run_for(seconds(5));
  ensemble->kill(leader);
  ASSERT_TRUE(run_until([&] { return ensemble->has_quorum(); }));
  const Time begin = scheduler.now();
  ASSERT_TRUE(run_until([&] { return !ensemble->find_node("/e"); }));
  EXPECT_GE(scheduler.now() - begin, milliseconds(5990));
  EXPECT_LE(scheduler.now() - begin, milliseconds(8100));
}

TEST_F(EnsembleModel, ASessionThatMoves_IsClosedByItsFormerServerWhenThatIsAsked) {
  start();
  SimulatedClient old_place(scheduler, *ensemble, 1);
  SimulatedClient new_place(scheduler, *ensemble, 1);
  old_place.connect(followers[0], seconds(10));
  ASSERT_TRUE(old_place.wait_until_connected());
  ASSERT_EQ(Status::ok, old_place.call(create("/e", CreateMode::ephemeral)));
  new_place.connect(followers[1], seconds(20), old_place.handle->hand_session_over());
  ASSERT_TRUE(new_place.wait_until_connected());
  EXPECT_EQ(seconds(20), new_place.handle->session_timeout());
  EXPECT_EQ(old_place.handle->session_id(), new_place.handle->session_id());
  EXPECT_EQ(Status::ok, old_place.call(exists("/e")));  // reads are not checked by followers
  EXPECT_TRUE(old_place.is_connected());
  EXPECT_EQ(Status::connection_loss, old_place.call(create("/f")));
  ASSERT_TRUE(old_place.wait([&] { return !old_place.is_connected(); }));
  EXPECT_EQ(Status::ok, new_place.call(create("/f")));
  // The C client tries again with a key that no server knows.
  ASSERT_TRUE(old_place.wait([&] { return old_place.is_expired(); }));
  EXPECT_TRUE(new_place.is_connected());
  // Counted with the new time-out.
  EXPECT_EQ(seconds(20), ensemble->session_timeout(new_place.handle->session_id()));
}

TEST_F(EnsembleModel, AnEmptyContainer_IsRemovedOnceItHasHadAChild) {
  start();
  SimulatedClient client(scheduler, *ensemble, 1);
  client.connect(followers[0], seconds(10));
  ASSERT_TRUE(client.wait_until_connected());
  ASSERT_EQ(Status::ok, client.call(create("/used", CreateMode::container)));
  ASSERT_EQ(Status::ok, client.call(create("/unused", CreateMode::container)));
  ASSERT_EQ(Status::ok, client.call(create("/used/a")));
  ASSERT_EQ(Status::ok, client.call(create("/used/b")));
  run_for(seconds(130));
  EXPECT_TRUE(ensemble->find_node("/used"));
  ASSERT_EQ(Status::ok, client.call(remove("/used/a")));
  ASSERT_EQ(Status::ok, client.call(remove("/used/b")));
  run_for(seconds(70));
  EXPECT_FALSE(ensemble->find_node("/used"));
  EXPECT_TRUE(ensemble->find_node("/unused"));
}

TEST_F(EnsembleModel, ALostReply_LeavesTheWriteDone) {
  start();
  SimulatedClient client(scheduler, *ensemble, 1);
  client.connect(followers[0], seconds(10));
  ASSERT_TRUE(client.wait_until_connected());
  ensemble->lose_next_reply(1);
  EXPECT_EQ(Status::connection_loss, client.call(create("/a")));
  EXPECT_TRUE(ensemble->find_node("/a"));
  ASSERT_TRUE(client.wait_until_connected());  // by itself, since the session was not handed over
  const std::uint64_t lost = client.send(create("/b"));
  run_for(std::chrono::microseconds(50));
  ASSERT_TRUE(ensemble->drop_connection(1, Ensemble::Loss::replies));
  ASSERT_NE(nullptr, client.reply(lost));
  EXPECT_EQ(Status::connection_loss, client.find(lost)->status);
  run_for(seconds(1));
  EXPECT_TRUE(ensemble->find_node("/b"));
  ASSERT_TRUE(client.wait_until_connected());
  client.send(create("/c"));
  ASSERT_TRUE(ensemble->drop_connection(1, Ensemble::Loss::requests));
  run_for(seconds(1));
  EXPECT_FALSE(ensemble->find_node("/c"));
}

TEST_F(EnsembleModel, APausedProcess_ReadsItsSocketBeforeItGivesUp) {
  start();
  SimulatedClient client(scheduler, *ensemble, 1);
  client.connect(followers[0], seconds(9));
  ASSERT_TRUE(client.wait_until_connected());
  const std::uint64_t request = client.send(create("/a"));
  client.process.pause();
  run_for(seconds(7));  // more than two thirds of the time-out
  EXPECT_EQ(nullptr, client.find(request));
  client.process.resume();
  ASSERT_NE(nullptr, client.reply(request));
  EXPECT_EQ(Status::ok, client.find(request)->status);
  EXPECT_TRUE(client.is_connected());
}

TEST_F(EnsembleModel, ASilentServer_IsLeftAfterTwoThirdsOfTheTimeout) {
  start();
  SimulatedClient client(scheduler, *ensemble, 1);
  client.connect(followers[0], seconds(9));
  ASSERT_TRUE(client.wait_until_connected());
  ASSERT_EQ(Status::ok, client.call(exists("/")));
  const Time last = scheduler.now();
  ensemble->set_client_link(1, followers[0], Ensemble::LinkFault::silent);
  client.send(create("/late"));
  ASSERT_TRUE(client.wait([&] { return !client.is_connected(); }));
  EXPECT_GE(scheduler.now() - last, milliseconds(5900));
  EXPECT_LE(scheduler.now() - last, milliseconds(6100));
}

void run_with_many_faults(std::uint64_t seed, ModelMistake mistake) {
  SCOPED_TRACE(seed);
  Scheduler scheduler(seed);
  Trace trace(scheduler);
  EnsembleOptions options;
  options.servers = seed % 3 == 0 ? 5 : 3;
  options.mistake = mistake;
  Ensemble ensemble(scheduler, trace, options);
  Random& random = scheduler.random();
  const auto any_server = [&] { return static_cast<int>(random.below(static_cast<std::uint64_t>(options.servers))); };
  std::vector<std::unique_ptr<SimulatedClient>> clients;
  for (int number = 0; number < 4; ++number) {
    clients.push_back(std::make_unique<SimulatedClient>(scheduler, ensemble, number));
    clients.back()->connect(number % options.servers, seconds(6));
  }
  std::int64_t last_zxid = 0;
  ensemble.on_change([&](const Ensemble::Change& change) {
    EXPECT_GE(change.zxid, last_zxid);
    last_zxid = change.zxid;
  });
  for (int step = 0; step < 3000; ++step) {
    scheduler.run_until(scheduler.now() + random.between(Time::zero(), milliseconds(step % 100 < 50 ? 1 : 40)));
    SimulatedClient& client = *clients[random.below(4)];
    if (client.is_expired() || !client.is_connected()) client.connect(any_server(), seconds(6));
    const std::string path = "/n" + std::to_string(random.below(5));
    client.send(random.chance(0.5) ? create(path, CreateMode::ephemeral) : remove(path));
    const int server = any_server();
    const int other = any_server();
    if (random.chance(0.01)) ensemble.kill(server);
    if (random.chance(0.02)) ensemble.restart(server);
    if (random.chance(0.005)) ensemble.pause(server);
    if (random.chance(0.01)) ensemble.resume(server);
    const auto fault = static_cast<Ensemble::LinkFault>(random.below(4));
    if (server != other && random.chance(0.01)) ensemble.set_server_link(server, other, fault, milliseconds(50));
    if (server != other && random.chance(0.01)) ensemble.set_server_link_one_way(server, other, fault, seconds(1));
    if (random.chance(0.01)) ensemble.set_client_link(client.process.number(), server, fault, milliseconds(100));
    if (random.chance(0.01)) ensemble.set_lag(server, milliseconds(random.below(300)));
    if (random.chance(0.01)) ensemble.heal();
  }
  ensemble.heal();
  scheduler.run_until(scheduler.now() + seconds(60));
  EXPECT_TRUE(ensemble.has_quorum());
  SimulatedClient last(scheduler, ensemble, 9);
  for (int server = 0; server < options.servers; ++server) {
    last.connect(server, seconds(6));
    EXPECT_TRUE(last.wait([&] { return last.handle->state() == detail::SessionEvent::connected; }));
  }
}

// The model checks by itself that all servers apply one history.
TEST(EnsembleModelRuns, WithManyFaults_KeepOneHistoryAndRecover) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) run_with_many_faults(seed, ModelMistake::none);
}

TEST(EnsembleModelRuns, OfServersThatAcknowledgeTooEarly_AreFoundToHaveTwoHistories) {
  const auto run_until_found = [] {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) run_with_many_faults(seed, ModelMistake::acks_ahead_of_disk);
  };
  EXPECT_THROW(run_until_found(), std::logic_error);
}

// A failing seed must be found again, with the same faults at the same moments.
TEST(EnsembleModelRuns, OfOneSeed_AreTheSame) {
  std::vector<std::uint64_t> digests;
  for (const std::uint64_t seed : {7U, 7U, 8U}) {
    Scheduler scheduler(seed);
    Trace trace(scheduler);
    Ensemble ensemble(scheduler, trace, {});
    std::vector<std::unique_ptr<SimulatedClient>> clients;
    for (int number = 0; number < 5; ++number) {
      clients.push_back(std::make_unique<SimulatedClient>(scheduler, ensemble, number));
      clients.back()->connect(number % 3, seconds(6));
    }
    Random& random = scheduler.random();
    for (int step = 0; step < 2000; ++step) {
      scheduler.run_until(scheduler.now() + milliseconds(20));
      SimulatedClient& client = *clients[random.below(5)];
      if (client.is_expired() || !client.handle) client.connect(static_cast<int>(random.below(3)), seconds(6));
      const std::string path = "/n" + std::to_string(random.below(5));
      client.send(random.chance(0.5) ? create(path, CreateMode::ephemeral) : remove(path));
      const int server = static_cast<int>(random.below(3));
      if (random.chance(0.01)) ensemble.kill(server);
      if (random.chance(0.02)) ensemble.restart(server);
      if (random.chance(0.01)) ensemble.pause(server);
      if (random.chance(0.02)) ensemble.resume(server);
      if (random.chance(0.01)) ensemble.set_server_link(server, (server + 1) % 3, Ensemble::LinkFault::silent);
      if (random.chance(0.01)) ensemble.set_server_link(server, (server + 1) % 3, Ensemble::LinkFault::cut);
      if (random.chance(0.01))
        ensemble.set_client_link(static_cast<int>(random.below(5)), server, Ensemble::LinkFault::silent);
      if (random.chance(0.01)) ensemble.drop_connection(static_cast<int>(random.below(5)), Ensemble::Loss::replies);
      if (random.chance(0.01)) ensemble.set_lag(server, milliseconds(random.below(300)));
      if (random.chance(0.02)) ensemble.heal();
    }
    ensemble.heal();
    scheduler.run_until(scheduler.now() + seconds(60));
    EXPECT_TRUE(ensemble.has_quorum());
    digests.push_back(trace.digest());
  }
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_NE(digests[0], digests[2]);
}

}  // namespace
}  // namespace zkrecipes::simulation
