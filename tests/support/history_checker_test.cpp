// SPDX-License-Identifier: Apache-2.0
#include "tests/support/history_checker.h"

#include <cstdlib>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

namespace zkrecipes::testing {
namespace {

using ::testing::HasSubstr;

Verdict judge(const std::string& text, LockModel model, int permits = 1) {
  std::istringstream in(text);
  return check_history(read_history(in), model, permits);
}

void expect_accepted(const std::string& text, LockModel model, int permits = 1) {
  const Verdict verdict = judge(text, model, permits);
  EXPECT_TRUE(verdict.accepted()) << verdict;
}

/// Exactly one violation, of this rule, which names these operations ("process operation event").
void expect_refused(const std::string& text, LockModel model, const std::string& rule,
                    const std::vector<std::string>& named, int permits = 1) {
  const Verdict verdict = judge(text, model, permits);
  ASSERT_EQ(verdict.violations.size(), 1U) << verdict;
  EXPECT_THAT(verdict.violations[0].rule, HasSubstr(rule));
  std::ostringstream shown;
  shown << verdict;
  for (const std::string& each : named) EXPECT_THAT(shown.str(), HasSubstr(each));
}

const char* const kTurns =
    "a 1 invoke exclusive 10 -\n"
    "a 1 ok exclusive 20 100\n"
    "b 1 invoke exclusive 15 -\n"
    "a 1 release exclusive 30 100\n"
    "b 1 ok exclusive 30 101\n"
    "b 1 release exclusive 40 101\n"
    "# a remark\n"
    "\n"
    "a 2 invoke exclusive 35 -\n"
    "a 2 fail exclusive 45 -\n";

TEST(HistoryCheckerTest, Mutex_TurnsAreAccepted) {
  expect_accepted(kTurns, LockModel::mutex);
  const Verdict verdict = judge(kTurns, LockModel::fenced_mutex);
  EXPECT_TRUE(verdict.accepted()) << verdict;
  EXPECT_EQ(verdict.grants, 2);
  EXPECT_EQ(verdict.failures, 1);
}

TEST(HistoryCheckerTest, Mutex_OverlapIsRefused) {
  expect_refused(
      "a 1 invoke exclusive 10 -\n"
      "a 1 ok exclusive 20 100\n"
      "b 1 invoke exclusive 15 -\n"
      "b 1 ok exclusive 29 101\n"
      "a 1 release exclusive 30 100\n",
      LockModel::mutex, "one holder at a time", {"a 1 ok", "b 1 ok"});
}

TEST(HistoryCheckerTest, Mutex_AHoldWithoutEndLastsForEver) {
  expect_refused(
      "a 1 invoke exclusive 10 -\n"
      "a 1 ok exclusive 20 100\n"
      "b 1 invoke exclusive 15 -\n"
      "b 1 ok exclusive 90000 101\n",
      LockModel::mutex, "one holder at a time", {"a 1 ok", "b 1 ok"});
}

TEST(HistoryCheckerTest, Mutex_EachFurtherHolderIsNamed) {
  const Verdict verdict = judge(
      "a 1 invoke exclusive 1 -\na 1 ok exclusive 2 -\n"
      "b 1 invoke exclusive 1 -\nb 1 ok exclusive 3 -\n"
      "c 1 invoke exclusive 1 -\nc 1 ok exclusive 4 -\n",
      LockModel::mutex);
  EXPECT_EQ(verdict.violations.size(), 2U) << verdict;
}

TEST(HistoryCheckerTest, Mutex_AHoldCountsUntilItsValidityEnded) {
  // a was paused from 25 to 90 and wrote its loss down when it woke.
  const std::string paused =
      "a 1 invoke exclusive 10 -\n"
      "a 1 ok exclusive 20 100\n"
      "b 1 invoke exclusive 15 -\n"
      "b 1 ok exclusive 60 101\n"
      "a 1 lost exclusive 50 100\n";
  expect_accepted(paused, LockModel::mutex);
  EXPECT_EQ(judge(paused, LockModel::mutex).lost, 1);
  expect_refused(
      "a 1 invoke exclusive 10 -\n"
      "a 1 ok exclusive 20 100\n"
      "b 1 invoke exclusive 15 -\n"
      "b 1 ok exclusive 49 101\n"
      "a 1 lost exclusive 50 100\n",
      LockModel::mutex, "one holder at a time", {"a 1 lost", "b 1 ok"});
}

TEST(HistoryCheckerTest, Mutex_AHoldEndsWithItsProcess) {
  const std::string killed =
      "a 1 invoke exclusive 10 -\n"
      "a 1 ok exclusive 20 100\n"
      "a 0 died - 30 -\n"
      "b 1 invoke exclusive 15 -\n";
  expect_accepted(killed + "b 1 ok exclusive 30 101\n", LockModel::mutex);
  expect_refused(killed + "b 1 ok exclusive 29 101\n", LockModel::mutex, "one holder at a time", {"a 0 died"});
}

TEST(HistoryCheckerTest, Mutex_APausedProcessThatWasKilledHeldNoLongerThanItsValidity) {
  expect_accepted(
      "a 1 invoke exclusive 10 -\n"
      "a 1 ok exclusive 20 100\n"
      "a 1 valid exclusive 40 -\n"
      "a 1 valid exclusive 50 -\n"
      "b 1 invoke exclusive 15 -\n"
      "b 1 ok exclusive 60 101\n"
      "a 0 died - 90 -\n",
      LockModel::mutex);
}

TEST(HistoryCheckerTest, Mutex_UnknownOutcomesStayOpen) {
  expect_accepted(
      "a 1 invoke exclusive 10 -\n"
      "a 1 unknown exclusive 20 -\n"
      "b 1 invoke exclusive 15 -\n"
      "b 1 ok exclusive 25 101\n"
      "b 1 release exclusive 40 101\n"
      "a 1 release exclusive 30 -\n"
      "c 1 invoke exclusive 30 -\n",
      LockModel::mutex);
}

TEST(HistoryCheckerTest, ReleaseByANonHolderIsRefused) {
  for (const LockModel model : {LockModel::mutex, LockModel::fenced_mutex, LockModel::retained_mutex,
                                LockModel::read_write, LockModel::semaphore}) {
    expect_refused(std::string(kTurns) + "c 7 release exclusive 50 101\n", model, "only a holder", {"c 7 release"});
    expect_refused("a 1 invoke exclusive 10 -\na 1 release exclusive 20 -\n", model, "only a holder", {"a 1 release"});
    expect_refused(std::string(kTurns) + "b 1 release exclusive 50 101\n", model, "ends once", {"b 1 release"});
    expect_refused(std::string(kTurns) + "a 2 release exclusive 50 101\n", model, "ends once", {"a 2 fail"});
  }
}

TEST(HistoryCheckerTest, AStoryThatContradictsItselfIsRefused) {
  expect_refused("a 1 ok exclusive 20 100\n", LockModel::mutex, "begins with its invoke", {"a 1 ok"});
  expect_refused("a 1 invoke exclusive 10 -\na 1 invoke exclusive 20 -\n", LockModel::mutex, "invoked once", {});
  expect_refused("a 1 invoke exclusive 10 -\na 1 ok exclusive 5 100\n", LockModel::mutex, "before it was asked", {});
  expect_refused("a 1 invoke exclusive 10 -\na 1 fail exclusive 20 -\na 1 ok exclusive 30 100\n", LockModel::mutex,
                 "after the end", {"a 1 fail", "a 1 ok"});
  expect_refused("a 1 invoke exclusive 10 -\na 1 ok exclusive 20 100\na 1 ok exclusive 30 100\n", LockModel::mutex,
                 "granted once", {});
}

TEST(HistoryCheckerTest, Fenced_ATokenThatGoesBackIsRefused) {
  const std::string back =
      "a 1 invoke exclusive 10 -\n"
      "a 1 ok exclusive 20 101\n"
      "a 1 release exclusive 30 101\n"
      "b 1 invoke exclusive 15 -\n"
      "b 1 ok exclusive 40 100\n"
      "b 1 release exclusive 50 100\n";
  expect_accepted(back, LockModel::mutex);
  expect_refused(back, LockModel::fenced_mutex, "tokens grow", {"a 1 ok", "b 1 ok"});
}

TEST(HistoryCheckerTest, Fenced_TheSameTokenTwiceAndNoTokenAreRefused) {
  expect_refused(
      "a 1 invoke exclusive 10 -\na 1 ok exclusive 20 100\na 1 release exclusive 30 100\n"
      "a 2 invoke exclusive 31 -\na 2 ok exclusive 32 100\na 2 release exclusive 33 100\n",
      LockModel::fenced_mutex, "tokens grow", {"a 2 ok"});
  expect_refused("a 1 invoke exclusive 10 -\na 1 ok exclusive 20 -\n", LockModel::fenced_mutex, "has a token",
                 {"a 1 ok"});
}

TEST(HistoryCheckerTest, RetainedMutex_ConsecutiveHoldsOfOneProcessMayHaveOneToken) {
  const auto second_hold = [](const std::string& process, const std::string& token) {
    return "a.0 1 invoke exclusive 10 -\na.0 1 ok exclusive 20 100\na.0 1 release exclusive 30 100\n" + process +
           " 2 invoke exclusive 40 -\n" + process + " 2 ok exclusive 50 " + token + "\n" + process +
           " 2 release exclusive 60 " + token + "\n";
  };
  expect_accepted(second_hold("a.0", "100"), LockModel::retained_mutex);
  expect_accepted(second_hold("a.1", "100"), LockModel::retained_mutex);
  expect_accepted(second_hold("b.0", "101"), LockModel::retained_mutex);
  expect_refused(second_hold("b.0", "100"), LockModel::retained_mutex, "tokens grow", {"a.0 1 ok", "b.0 2 ok"});
  expect_refused(second_hold("a.1", "99"), LockModel::retained_mutex, "tokens grow", {"a.0 1 ok", "a.1 2 ok"});
  expect_refused(second_hold("a.0", "100"), LockModel::fenced_mutex, "tokens grow", {"a.0 1 ok", "a.0 2 ok"});
}

TEST(HistoryCheckerTest, Fenced_AStaleWriteIsRefused) {
  const std::string writes =
      "r 1 write exclusive 21 100\n"
      "r 2 write exclusive 22 100\n"
      "r 3 write exclusive 61 101\n";
  expect_accepted(writes, LockModel::fenced_mutex);
  EXPECT_EQ(judge(writes, LockModel::fenced_mutex).writes, 3);
  expect_refused(writes + "r 4 write exclusive 90 100\n", LockModel::fenced_mutex, "old token",
                 {"r 3 write", "r 4 write"});
  expect_accepted(writes + "r 4 write exclusive 90 100\n", LockModel::mutex);
}

const char* const kTwoReaders =
    "a 1 invoke read 10 -\n"
    "a 1 ok read 20 100\n"
    "b 1 invoke read 15 -\n"
    "b 1 ok read 25 101\n"
    "c 1 invoke write 22 -\n"
    "a 1 release read 30 100\n";

TEST(HistoryCheckerTest, ReadWrite_ReadersTogetherThenTheWriterAreAccepted) {
  expect_accepted(std::string(kTwoReaders) + "b 1 release read 40 101\nc 1 ok write 41 102\n", LockModel::read_write);
}

TEST(HistoryCheckerTest, ReadWrite_AReaderBesideAWriterIsRefused) {
  expect_refused(std::string(kTwoReaders) + "c 1 ok write 35 102\nb 1 release read 40 101\n", LockModel::read_write,
                 "a writer holds alone", {"b 1 ok", "c 1 ok"});
  expect_refused(
      "c 1 invoke write 10 -\nc 1 ok write 20 102\n"
      "a 1 invoke read 10 -\na 1 ok read 25 103\n"
      "c 1 release write 30 102\n",
      LockModel::read_write, "a writer holds alone", {"a 1 ok", "c 1 release"});
}

TEST(HistoryCheckerTest, ReadWrite_TwoWritersAreRefused) {
  expect_refused(
      "c 1 invoke write 10 -\nc 1 ok write 20 102\n"
      "d 1 invoke write 10 -\nd 1 ok write 25 103\n",
      LockModel::read_write, "a writer holds alone", {"c 1 ok", "d 1 ok"});
}

const char* const kDowngrade =
    "c 1 invoke write 10 -\n"
    "c 1 ok write 20 102\n"
    "c 1 ok read 30 102\n"
    "a 1 invoke read 11 -\n";

TEST(HistoryCheckerTest, ReadWrite_ADowngradeLetsReadersInButNoWriter) {
  expect_accepted(std::string(kDowngrade) + "a 1 ok read 31 103\nc 1 release read 40 102\n", LockModel::read_write);
  expect_refused(std::string(kDowngrade) + "a 1 ok read 29 103\nc 1 release read 40 102\n", LockModel::read_write,
                 "a writer holds alone", {"a 1 ok"});
  expect_refused(std::string(kDowngrade) + "d 1 invoke write 30 -\nd 1 ok write 35 104\nc 1 release read 40 102\n",
                 LockModel::read_write, "a writer holds alone", {"d 1 ok", "c 1 release"});
  expect_refused("c 1 invoke write 10 -\nc 1 ok write 20 102\nc 1 ok read 30 105\n", LockModel::read_write,
                 "keeps the token", {"c 1 ok read"});
}

std::string holders(int number) {
  std::ostringstream text;
  for (int i = 1; i <= number; ++i)
    text << "p" << i << " 1 invoke permit 10 -\np" << i << " 1 ok permit " << 20 + i << " " << 100 + i << "\n";
  return text.str();
}

TEST(HistoryCheckerTest, Semaphore_AllPermitsAreAcceptedAndOneMoreIsRefused) {
  expect_accepted(holders(3), LockModel::semaphore, 3);
  expect_refused(holders(4), LockModel::semaphore, "no more holders than permits", {"p1 1 ok", "p4 1 ok"}, 3);
  expect_accepted("p1 1 invoke permit 1 -\np1 1 ok permit 2 7\np1 1 release permit 22 7\n", LockModel::semaphore, 1);
  EXPECT_THROW(judge(holders(1), LockModel::semaphore, 0), std::invalid_argument);
}

TEST(HistoryTest, MalformedInputIsRefusedWithItsLine) {
  const auto complaint = [](const std::string& text) -> std::string {
    std::istringstream in("a 1 invoke exclusive 1 -\n" + text + "\n");
    try {
      read_history(in, "file");
    } catch (const MalformedHistory& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint("a 1 ok exclusive 2"), HasSubstr("file, line 2: has 5 fields"));
  EXPECT_THAT(complaint("a 1 ok exclusive 2 3 4"), HasSubstr("7 fields"));
  EXPECT_THAT(complaint("a x ok exclusive 2 3"), HasSubstr("operation 'x'"));
  EXPECT_THAT(complaint("a 1 perhaps exclusive 2 3"), HasSubstr("event 'perhaps'"));
  EXPECT_THAT(complaint("a 1 ok both 2 3"), HasSubstr("mode 'both'"));
  EXPECT_THAT(complaint("a 1 ok - 2 3"), HasSubstr("mode '-'"));
  EXPECT_THAT(complaint("a 1 ok exclusive -2 3"), HasSubstr("time '-2'"));
  EXPECT_THAT(complaint("a 1 ok exclusive 2 0x3"), HasSubstr("token '0x3'"));
  EXPECT_THAT(complaint("a 1 ok exclusive 99999999999999999999 3"), HasSubstr("time"));
  EXPECT_THAT(complaint("a 1 write exclusive 2 -"), HasSubstr("no token"));
  EXPECT_EQ(complaint("a 1 ok exclusive 2 3"), "");
}

TEST(HistoryTest, WhatIsWrittenIsRead) {
  std::string file = "/tmp/zkrecipes-history-XXXXXX";
  const int made = mkostemp(file.data(), O_CLOEXEC);
  ASSERT_NE(made, -1);
  close(made);
  {
    const HistoryWriter writer(file, "p1");
    writer.append(7, HistoryEvent::Kind::invoke, LockMode::write, 5);
    writer.append(7, HistoryEvent::Kind::ok, LockMode::write, 6, 42);
    const HistoryWriter driver(file, "p1");
    driver.append(0, HistoryEvent::Kind::died, LockMode::exclusive, 9);
  }
  const History history = read_history_files({file});
  unlink(file.c_str());
  ASSERT_EQ(history.size(), 3U);
  EXPECT_EQ(to_line(history[1]), "p1 7 ok write 6 42");
  EXPECT_EQ(to_line(history[2]), "p1 0 died - 9 -");
  EXPECT_THROW(read_history_files({file}), MalformedHistory);
}

TEST(HistoryTest, EndedOperations_LeavesOutWhatIsStillOpen) {
  std::istringstream in(std::string(kTurns) + "c 1 invoke exclusive 35 -\nc 1 ok exclusive 36 102\n");
  const History history = read_history(in);
  EXPECT_FALSE(check_history(history, LockModel::mutex).accepted());
  const Verdict verdict = check_history(ended_operations(history), LockModel::mutex);
  EXPECT_TRUE(verdict.accepted()) << verdict;
  EXPECT_EQ(verdict.grants, 2);
}

TEST(HistoryTest, LongestWait_CountsFromTheGivenTime) {
  std::istringstream in(
      "a 1 invoke exclusive 10 -\na 1 ok exclusive 90 1\na 1 release exclusive 91 1\n"  // before
      "b 1 invoke exclusive 20 -\nb 1 ok exclusive 130 2\n"                             // 30 of them after 100
      "c 1 invoke exclusive 150 -\nc 1 fail exclusive 190 -\n"
      "d 1 invoke exclusive 10 -\nd 0 died - 20 -\n");
  History history = read_history(in);
  EXPECT_EQ(longest_wait(history, 100, 200), 30);
  history.push_back({"e", 1, HistoryEvent::Kind::invoke, LockMode::exclusive, 140, {}});
  EXPECT_EQ(longest_wait(history, 100, 200), 60);
}

}  // namespace
}  // namespace zkrecipes::testing
