// SPDX-License-Identifier: Apache-2.0
#include "testkit/child_process.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <unistd.h>

#include "testkit/temporary_folder.h"

namespace zkrecipes::testing {
namespace {

using testkit::ChildProcess;

constexpr std::chrono::seconds kLimit{30};

TEST(ChildProcess, AnswersLineByLineUntilItsInputEnds) {
  ChildProcess cat({"cat"});
  cat.write("one\ntwo\n");
  EXPECT_EQ(cat.read_line(kLimit), "one");
  EXPECT_EQ(cat.read_line(kLimit), "two");
  EXPECT_FALSE(cat.wait_for_line(std::chrono::milliseconds(0)));
  cat.close_input();
  EXPECT_EQ(cat.read_line(kLimit), std::nullopt);
  EXPECT_EQ(cat.wait(kLimit), 0);
  EXPECT_TRUE(cat.has_ended());
}

TEST(ChildProcess, StatusIsThatOfTheProgramOrTellsTheSignal) {
  ChildProcess failing({"sh", "-c", "exit 3"});
  EXPECT_EQ(failing.wait(kLimit), 3);
  ChildProcess killed({"cat"});
  killed.kill();
  EXPECT_EQ(killed.wait(kLimit), 128 + SIGKILL);
}

TEST(ChildProcess, WriteToAnEndedProcessThrowsAndRaisesNoSignal) {
  ChildProcess ended({"true"});
  ended.wait(kLimit);
  EXPECT_THROW(ended.write("anybody?\n"), std::system_error);
}

TEST(ChildProcess, UnknownProgramThrows) {
  EXPECT_THROW(ChildProcess({"/no/such/program"}), std::system_error);
}

TEST(ChildProcess, PausedProcessAnswersAfterItIsResumed) {
  ChildProcess cat({"cat"});
  EXPECT_TRUE(cat.pause());
  cat.write("late\n");
  EXPECT_FALSE(cat.wait_for_line(std::chrono::milliseconds(20)));
  cat.resume();
  EXPECT_EQ(cat.read_line(kLimit), "late");
}

TEST(ChildProcess, PausingAnEndedProcessSaysSo) {
  ChildProcess ended({"cat"});
  ::kill(ended.pid(), SIGKILL);
  EXPECT_FALSE(ended.pause());
}

TEST(ChildProcess, InheritsNoFilesButTheStandardOnes) {
  int open_here[2];
  ASSERT_EQ(::pipe(open_here), 0);
  ChildProcess child({"sh", "-c", "echo /proc/self/fd/*"});
  const std::string files = child.read_line(kLimit).value_or("");
  // The shell opens the folder itself, as its first free descriptor.
  EXPECT_EQ(files.find("/fd/4"), std::string::npos) << files;
  EXPECT_EQ(files.find("/fd/" + std::to_string(open_here[1])), std::string::npos) << files;
  ::close(open_here[0]);
  ::close(open_here[1]);
}

TEST(ChildProcess, LogFileReceivesOutputAndErrors) {
  const testkit::TemporaryFolder folder;
  testkit::ChildOptions options;
  options.log_file = folder.file("log");
  ChildProcess child({"sh", "-c", "echo out; echo err >&2"}, options);
  EXPECT_EQ(child.wait(kLimit), 0);
  std::ifstream log(folder.file("log"));
  std::multiset<std::string> lines;
  for (std::string line; std::getline(log, line);) lines.insert(line);
  EXPECT_EQ(lines, (std::multiset<std::string>{"err", "out"}));
}

}  // namespace
}  // namespace zkrecipes::testing
