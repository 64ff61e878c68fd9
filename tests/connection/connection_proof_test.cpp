// SPDX-License-Identifier: Apache-2.0
// For each kind of request the reply is lost two hundred times.
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <set>

#include "tests/support/fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::CreateSpec;
using detail::Status;

constexpr int kClients = 40;
constexpr int kRoundsEach = 5;
constexpr int kLost = kClients * kRoundsEach;

/// The failures of one client; there should be none.
struct Tally {
  int lost = 0;  // replies that the proxy dropped
  int wrong = 0;
  int hangs = 0;
  Tally& operator+=(const Tally& other) {
    lost += other.lost;
    wrong += other.wrong;
    hangs += other.hangs;
    return *this;
  }
};

/// A connection with a proxy of its own, so that each loses its own replies.
struct Victim {
  std::unique_ptr<FaultProxy> proxy;
  Connection* connection = nullptr;
  std::string path;  // a persistent node of its own
};

class TwoHundredLostReplies : public ControlledServerTest {
 protected:
  using Work = std::function<bool(const Victim&, const SyncClient&)>;  // true: as it should be

  void SetUp() override {
    ControlledServerTest::SetUp();
    if (IsSkipped()) return;
    for (int n = 0; n < kClients; ++n) {
      Victim& victim = victims_.emplace_back();
      victim.proxy = std::make_unique<FaultProxy>(server().address());
      victim.path = "/victim" + std::to_string(n);
      create_node(victim.path, "data");
      victim.connection = &begin_connect(options_for(victim.proxy->address(), 30s));
    }
    for (const Victim& victim : victims_) ASSERT_TRUE(victim.connection->wait_until_connected(kLimit));
  }

  void lose_each(RequestKind kind, const Work& work) {
    std::vector<std::future<Tally>> clients;
    for (const Victim& victim : victims_)
      clients.push_back(std::async(std::launch::async, [&victim, kind, &work] {
        Tally tally;
        const SyncClient client(*victim.connection);
        for (int round = 0; round < kRoundsEach; ++round) {
          victim.proxy->drop_reply(kind);
          try {
            if (!work(victim, client)) ++tally.wrong;
          } catch (const std::runtime_error&) {
            ++tally.hangs;
          }
          if (victim.proxy->armed() == 0) ++tally.lost;
          victim.proxy->clear_faults();
        }
        return tally;
      }));
    Tally total;
    for (auto& client : clients) total += client.get();
    std::cout << "lost replies of " << kind << ": " << total.lost << ", wrong outcomes " << total.wrong << ", hangs "
              << total.hangs << '\n';
    EXPECT_EQ(total.lost, kLost);
    EXPECT_EQ(total.wrong, 0);
    EXPECT_EQ(total.hangs, 0);
  }

  std::vector<Victim> victims_;
};

TEST_F(TwoHundredLostReplies, OfCreateAndRemoveLeaveNoOrphanAndNoDuplicate) {
  std::mutex mutex;
  std::vector<detail::CreatedNode> nodes;
  create_node("/queue");
  lose_each(RequestKind::create, [&](const Victim& victim, const SyncClient& client) {
    const auto node = client.create(queue_node("/queue"));
    std::lock_guard<std::mutex> lock(mutex);
    nodes.push_back(node);
    return node.recovered && node.stat.ephemeral_owner == victim.connection->session_id();
  });
  std::set<std::string> expected;
  std::set<std::int64_t> tokens;
  for (const auto& node : nodes) {
    expected.insert(node.path.substr(std::string("/queue/").size()));
    tokens.insert(node.stat.czxid);
  }
  const auto listed = children("/queue");
  EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()), expected);
  EXPECT_EQ(tokens.size(), static_cast<std::size_t>(kLost));
  std::cout << "nodes after " << kLost << " lost creates: " << listed.size() << ", orphans and duplicates "
            << static_cast<long>(listed.size()) - kLost << '\n';

  lose_each(RequestKind::remove, [&](const Victim& victim, const SyncClient& client) {
    std::string mine;
    {
      std::lock_guard<std::mutex> lock(mutex);
      const auto own = std::find_if(nodes.begin(), nodes.end(), [&](const auto& node) {
        return node.stat.ephemeral_owner == victim.connection->session_id();
      });
      if (own == nodes.end()) return false;
      mine = own->path;
      nodes.erase(own);
    }
    return client.remove(mine) == Status::ok;
  });
  EXPECT_THAT(children("/queue"), ::testing::IsEmpty());
  std::cout << "nodes after " << kLost << " lost removes: " << children("/queue").size() << '\n';
}

TEST_F(TwoHundredLostReplies, OfReadsSyncsAndWritesAreAllAnswered) {
  lose_each(RequestKind::get_children,
            [](const Victim&, const SyncClient& client) { return client.list("/").status == Status::ok; });
  lose_each(RequestKind::sync,
            [](const Victim&, const SyncClient& client) { return client.sync("/").status == Status::ok; });
  lose_each(RequestKind::set_data, [](const Victim& victim, const SyncClient& client) {
    const auto before = client.exists(victim.path).stat.version;
    const auto reply = client.set(victim.path, "version " + std::to_string(before), before);
    return reply.status == Status::ok && reply.stat.version == before + 1;
  });
}

TEST_F(TwoHundredLostReplies, OfWatchesBringEachEventOnce) {
  lose_each(RequestKind::get_data, [](const Victim& victim, const SyncClient& client) {
    const auto watch = client.begin_watch(victim.path);
    if (watch.reply.part().status != Status::ok) return false;
    if (client.set(victim.path, "x").status != Status::ok) return false;
    return watch.event.part() == detail::WatchEvent::changed;
  });
  lose_each(RequestKind::exists, [](const Victim& victim, const SyncClient& client) {
    return client.exists(victim.path).status == Status::ok;
  });
}

}  // namespace
}  // namespace zkrecipes::testing
