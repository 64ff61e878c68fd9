// SPDX-License-Identifier: Apache-2.0
#include "recipes/queue_rule.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iomanip>
#include <map>
#include <random>
#include <sstream>

namespace zkrecipes::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = Verdict::Kind;

std::string name(NodeKind kind, int sequence, const std::string& guid) {
  std::ostringstream out;
  out << protected_name(guid, kind) << std::setw(10) << std::setfill('0') << sequence;
  return out.str();
}
std::string lock(int sequence, const std::string& guid = "g") {
  return name(NodeKind::lock, sequence, guid + std::to_string(sequence));
}
std::string reader(int sequence) {
  return name(NodeKind::read, sequence, "r" + std::to_string(sequence));
}
std::string writer(int sequence) {
  return name(NodeKind::write, sequence, "w" + std::to_string(sequence));
}

Verdict judge_lock(const std::vector<std::string>& children, const std::string& mine) {
  return judge(children, mine, NodeKind::lock, "mine");
}

TEST(QueueRuleTest, Alone_Holds) {
  const Verdict verdict = judge_lock({lock(5)}, lock(5));
  EXPECT_EQ(verdict.kind, Kind::holds);
  EXPECT_EQ(verdict.ahead, 0);
}

TEST(QueueRuleTest, TheFirst_HoldsWhateverTheOrderOfTheListing) {
  EXPECT_EQ(judge_lock({lock(7), lock(3), lock(5)}, lock(3)).kind, Kind::holds);
}

TEST(QueueRuleTest, ALaterOne_WatchesTheNearestAhead) {
  const Verdict verdict = judge_lock({lock(7), lock(3), lock(9), lock(5)}, lock(7));
  EXPECT_EQ(verdict.kind, Kind::waits);
  EXPECT_EQ(verdict.watch, lock(5));
  EXPECT_EQ(verdict.ahead, 2);
}

TEST(QueueRuleTest, PeersInTheQueue_AreWaitedFor) {
  const std::string hex = "0f8fad5bd9cb469fa16570867728950e";
  for (const std::string& peer : {"_c_" + hex + "-lock-0000000001", hex + "__lock__0000000001",
                                  hex + "-lock-0000000001", std::string("x-72057594037927936-0000000001"),
                                  std::string("_c_6ba7b810-9dad-11d1-80b4-00c04fd430c8-lock-0000000001")}) {
    const Verdict verdict = judge_lock({lock(2), peer}, lock(2));
    EXPECT_EQ(verdict.kind, Kind::waits) << peer;
    EXPECT_EQ(verdict.watch, peer);
  }
}

TEST(QueueRuleTest, ForeignChildren_StandInNobodysWay) {
  EXPECT_EQ(judge_lock({"config", "lock-", lock(2), "aaa"}, lock(2)).kind, Kind::holds);
  EXPECT_FALSE(would_wait({"config", "lock-"}, NodeKind::lock));
}

TEST(QueueRuleTest, NotInTheListing_IsGone) {
  EXPECT_EQ(judge_lock({}, lock(2)).kind, Kind::gone);
  EXPECT_EQ(judge_lock({lock(1), lock(3)}, lock(2)).kind, Kind::gone);
}

TEST(QueueRuleTest, ASequenceThatOverflowed_IsRefusedForEverybody) {
  const std::string overflown = "_c_x-lock--2147483648";
  EXPECT_EQ(judge_lock({overflown}, overflown).kind, Kind::overflow);
  EXPECT_EQ(judge_lock({overflown, lock(2147483647)}, overflown).kind, Kind::overflow);
  EXPECT_EQ(judge_lock({overflown, lock(2147483647)}, lock(2147483647)).kind, Kind::overflow);
  const std::string of_zookeepers_recipe = "x-72057594037927936--2147483648";
  EXPECT_EQ(judge_lock({of_zookeepers_recipe, lock(2147483647)}, lock(2147483647)).kind, Kind::overflow);
}

TEST(QueueRuleTest, TheLargestSequence_StillOrders) {
  const Verdict verdict = judge_lock({lock(2147483647), lock(2147483646)}, lock(2147483647));
  EXPECT_EQ(verdict.kind, Kind::waits);
  EXPECT_EQ(verdict.watch, lock(2147483646));
}

TEST(QueueRuleTest, OtherNodesWithMyGuid_AreStraysAndStillBlock) {
  const std::vector<std::string> children{name(NodeKind::lock, 4, "mine"), name(NodeKind::lock, 6, "mine"), lock(5)};
  const Verdict verdict = judge_lock(children, children[1]);
  EXPECT_THAT(verdict.strays, ElementsAre(children[0]));
  EXPECT_EQ(verdict.kind, Kind::waits);
  EXPECT_EQ(verdict.watch, lock(5));
  EXPECT_THAT(judge(children, children[1], NodeKind::lock, "").strays, IsEmpty());
}

TEST(QueueRuleTest, Readers_GoTogether) {
  const std::vector<std::string> children{reader(1), reader(2), reader(3)};
  for (const std::string& mine : children) EXPECT_EQ(judge(children, mine, NodeKind::read, "").kind, Kind::holds);
  EXPECT_FALSE(would_wait(children, NodeKind::read));
  EXPECT_TRUE(would_wait(children, NodeKind::write));
}

TEST(QueueRuleTest, AReader_WatchesTheNearestWriterAhead) {
  const std::vector<std::string> children{writer(1), reader(2), writer(3), reader(4), reader(5), writer(6)};
  const Verdict verdict = judge(children, reader(5), NodeKind::read, "");
  EXPECT_EQ(verdict.kind, Kind::waits);
  EXPECT_EQ(verdict.watch, writer(3));
  EXPECT_EQ(verdict.ahead, 2);
  EXPECT_TRUE(would_wait(children, NodeKind::read));
}

TEST(QueueRuleTest, AWriter_WaitsForReadersToo) {
  const Verdict verdict = judge({reader(1), reader(2), writer(3)}, writer(3), NodeKind::write, "");
  EXPECT_EQ(verdict.kind, Kind::waits);
  EXPECT_EQ(verdict.watch, reader(2));
  EXPECT_EQ(verdict.ahead, 2);
}

TEST(QueueRuleTest, ADowngrade_KeepsWritersOutAndLetsReadersIn) {
  // For a moment the writer has two nodes of one number, then only the read node.
  const std::string own_write = writer(4);
  const std::string own_read = name(NodeKind::read, 4, "d");
  const std::string next_writer = writer(5);
  const Verdict during = judge({own_write, own_read, next_writer}, next_writer, NodeKind::write, "");
  EXPECT_EQ(during.kind, Kind::waits);
  EXPECT_EQ(during.ahead, 2);
  const Verdict after = judge({own_read, next_writer}, next_writer, NodeKind::write, "");
  EXPECT_EQ(after.kind, Kind::waits);
  EXPECT_EQ(after.watch, own_read);
  EXPECT_EQ(judge({own_read, reader(6)}, reader(6), NodeKind::read, "").kind, Kind::holds);
  EXPECT_EQ(judge({own_write, own_read, reader(6)}, reader(6), NodeKind::read, "").kind, Kind::waits);
}

TEST(QueueRuleTest, ADeletionProvesTheTurn_UnlessTheNodeMayBeReplaced) {
  EXPECT_TRUE(judge_lock({lock(4), lock(5)}, lock(5)).proof_by_deletion);
  EXPECT_TRUE(judge_lock({lock(4), lock(5), writer(6)}, lock(5)).proof_by_deletion);
  EXPECT_FALSE(judge_lock({lock(3), lock(4), lock(5)}, lock(5)).proof_by_deletion) << "two ahead";
  EXPECT_FALSE(judge_lock({lock(5)}, lock(5)).proof_by_deletion) << "holds already";
  EXPECT_FALSE(judge_lock({lock(4)}, lock(5)).proof_by_deletion) << "not in the listing";
  EXPECT_FALSE(judge_lock({writer(4), lock(5)}, lock(5)).proof_by_deletion) << "may downgrade";
  EXPECT_TRUE(judge_lock({reader(4), lock(5)}, lock(5)).proof_by_deletion) << "nothing replaces a read node";
  EXPECT_TRUE(judge({reader(4), writer(5)}, writer(5), NodeKind::write, "").proof_by_deletion);
  EXPECT_FALSE(judge({writer(4), writer(5)}, writer(5), NodeKind::write, "").proof_by_deletion);
  EXPECT_FALSE(judge({writer(4), reader(5)}, reader(5), NodeKind::read, "").proof_by_deletion);
}

TEST(QueueRuleTest, LookAhead_WatchesTheNodeBeforeThePredecessor) {
  const Verdict deep = judge_lock({lock(7), lock(3), lock(5), lock(4), lock(2)}, lock(5));
  EXPECT_EQ(deep.watch, lock(4));
  EXPECT_EQ(deep.look_past, lock(3));
  EXPECT_EQ(judge_lock({lock(4), lock(5)}, lock(5)).look_past, "") << "nobody stands before the predecessor";
  EXPECT_EQ(judge_lock({lock(5), lock(6)}, lock(5)).look_past, "");
  EXPECT_EQ(judge({writer(3), reader(4), writer(5)}, writer(5), NodeKind::write, "").look_past, writer(3));
  EXPECT_EQ(judge({reader(3), writer(4), writer(5)}, writer(5), NodeKind::write, "").look_past, "")
      << "the deletion of a write node proves nothing, so there is nothing to know in advance";
  EXPECT_EQ(judge({writer(3), writer(4), reader(5)}, reader(5), NodeKind::read, "").look_past, "");
}

TEST(QueueRuleTest, WithLookAhead_NoNodeIsWatchedByMoreThanTwo) {
  std::mt19937 random(43);
  for (int round = 0; round < 200; ++round) {
    // Contenders leave in any order. Each of the others looks again only when the node that it watches has left.
    std::vector<std::string> children;
    for (int i = 0; i < 10; ++i) children.push_back(lock(i));
    std::map<std::string, std::string> watched;
    const auto look = [&](const std::string& mine) {
      const Verdict verdict = judge_lock(children, mine);
      watched[mine] = verdict.look_past.empty() ? verdict.watch : verdict.look_past;
    };
    for (const std::string& mine : children) look(mine);
    while (!children.empty()) {
      const std::string leaver = children[random() % children.size()];
      children.erase(std::find(children.begin(), children.end(), leaver));
      watched.erase(leaver);
      int woken = 0;
      for (const std::string& mine : children)
        if (watched[mine] == leaver) {
          ++woken;
          look(mine);
        }
      EXPECT_LE(woken, 2);
    }
  }
}

TEST(QueueRuleTest, Ties_AreOrderedTheSameForEverybody) {
  const std::string first = name(NodeKind::write, 4, "a");
  const std::string second = name(NodeKind::read, 4, "b");
  const NameList listing{first, second};
  const NameList reversed{second, first};
  const auto names = [](const std::vector<NodeName>& nodes) {
    std::vector<std::string> result;
    for (const NodeName& node : nodes) result.emplace_back(node.name);
    return result;
  };
  EXPECT_EQ(names(in_queue_order(listing)), names(in_queue_order(reversed)));
}

TEST(QueueRuleTest, InAnyQueue_ExactlyOneHoldsAndTheOthersFormAChain) {
  std::mt19937 random(42);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> children;
    const int size = 1 + static_cast<int>(random() % 12);
    for (int i = 0; i < size; ++i) children.push_back(lock(i * 3 + static_cast<int>(random() % 3)));
    std::shuffle(children.begin(), children.end(), random);
    int holders = 0;
    std::vector<std::string> watched;
    for (const std::string& mine : children) {
      const Verdict verdict = judge_lock(children, mine);
      holders += verdict.kind == Kind::holds ? 1 : 0;
      if (verdict.kind == Kind::waits) watched.push_back(verdict.watch);
    }
    EXPECT_EQ(holders, 1);
    std::sort(watched.begin(), watched.end());
    EXPECT_EQ(std::unique(watched.begin(), watched.end()), watched.end()) << "two watch one node";
  }
}

TEST(QueueRuleTest, AFolderOfLeases_IsMarkedByItsDataAndNotByThoseOfOthers) {
  NodeStat stat;
  EXPECT_FALSE(is_marked(stat));
  stat.data_length = static_cast<std::int32_t>(kLeaseFolderMark.size());
  EXPECT_FALSE(is_marked(stat)) << "made with data";
  stat.version = 1;
  EXPECT_TRUE(is_marked(stat));
  EXPECT_FALSE(is_mark_confirmed(stat)) << "it may have come late";
  stat.version = 2;
  EXPECT_TRUE(is_mark_confirmed(stat));
  stat.data_length = 5;
  EXPECT_FALSE(is_marked(stat)) << "written by somebody else";
}

TEST(QueueRuleTest, AFolderOfLeases_IsASemaphoresOnceOneWasServedThere) {
  const std::string lease = name(NodeKind::lease, 1, "g");
  EXPECT_FALSE(is_semaphores(NameList{}, {})) << "one that is about to have a lease looks around";
  EXPECT_TRUE(is_semaphores(NameList{lease}, {}));
  EXPECT_TRUE(is_semaphores(NameList{"foreign", lease}, {}));
  EXPECT_FALSE(is_semaphores(NameList{"foreign", lock(1)}, {}));
  NodeStat marked;
  marked.version = 1;
  marked.data_length = static_cast<std::int32_t>(kLeaseFolderMark.size());
  EXPECT_TRUE(is_semaphores(NameList{"foreign"}, marked));
  EXPECT_TRUE(is_semaphores(NameList{}, marked));
}

}  // namespace
}  // namespace zkrecipes::detail
