// SPDX-License-Identifier: Apache-2.0
// What a program prints whose logging is not set up, is glog's, or is its own: all that it writes to its standard
// output and error, so nothing can be missed, and nothing that others write for us.
#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <sstream>

#include "testkit/child_process.h"
#include "testkit/temporary_folder.h"
#include "tests/support/fixture.h"

namespace zkrecipes::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

class LogProcessTest : public ControlledServerTest {
 protected:
  void start(const std::string& way) {
    testkit::ChildOptions child;
    child.log_file = (folder_.path() / "output").string();
    plain();
    program_.emplace(std::vector<std::string>{ZKRECIPES_LOGGING_CLIENT, proxy().address() + chroot(), way}, child);
  }
  /// All that the program has written.
  std::vector<std::string> lines() const {
    std::ifstream output(folder_.path() / "output");
    std::vector<std::string> result;
    for (std::string line; std::getline(output, line);) result.push_back(line);
    return result;
  }
  std::vector<std::string> lines_with(const std::string& words) const {
    std::vector<std::string> result;
    for (const std::string& line : lines())
      if (line.find(words) != std::string::npos) result.push_back(line);
    return result;
  }
  bool wait_for_words(const std::string& words) const {
    return wait_for([&] { return !lines_with(words).empty(); });
  }
  /// The lines since the lock was held.
  std::vector<std::string> lines_after_held() const {
    std::vector<std::string> all = lines();
    while (!all.empty() && all.front().find("held ") != 0) all.erase(all.begin());
    if (!all.empty()) all.erase(all.begin());
    return all;
  }
  /// "NODE TOKEN", as the program says it.
  std::pair<std::string, std::string> held() const {
    std::istringstream line(lines_with("held ").front());
    std::string word, node, token;
    line >> word >> node >> token;
    return {node, token};
  }
  std::int64_t session_of(const std::string& node) { return plain().stat(full(node))->ephemeralOwner; }
  void end() {
    program_->close_input();
    EXPECT_EQ(program_->wait(kLimit), 0);
  }

  const testkit::TemporaryFolder folder_;
  std::optional<testkit::ChildProcess> program_;
};

TEST_F(LogProcessTest, NotSetUp_OnlyWhatIsWrongIsPrintedWithoutABanner) {
  start("none");
  ASSERT_TRUE(wait_for_words("held "));
  const auto [node, token] = held();
  lose_connection();
  ASSERT_TRUE(proxy().wait_until_open_connections(1, kLimit));
  expire(session_of(node));
  ASSERT_TRUE(wait_for_words("hold lost"));
  end();
  const std::string servers = proxy().address() + chroot();
  EXPECT_THAT(lines_after_held(),
              ::testing::UnorderedElementsAre(
                  "zkrecipes: warning: the session with " + servers + " is over; a new one is being made",
                  "zkrecipes: warning: hold lost: node " + node + ", token " + token + ": its session is over"));
}

TEST_F(LogProcessTest, NotSetUp_AnUnreachableServerIsOneWarningWithTheReason) {
  proxy().refuse(true);
  start("none");
  ASSERT_TRUE(wait_for_words("warning"));
  proxy().refuse(false);
  ASSERT_TRUE(wait_for_words("held "));
  end();
  EXPECT_THAT(lines(), SizeIs(2)) << "and the one that says that the lock is held";
  EXPECT_THAT(lines().front(), AllOf(HasSubstr("zkrecipes: warning: no connection to " + proxy().address()),
                                     HasSubstr("refused"), MatchesRegex(".*[^.]")));
}

TEST_F(LogProcessTest, Glog_HasOneInfoLineForAReconnectAndOneTimeInEachLine) {
  start("glog");
  ASSERT_TRUE(wait_for_words("held "));
  lose_connection();
  ASSERT_TRUE(wait_for_words("is back after"));
  proxy().refuse(true);
  ASSERT_TRUE(wait_for_words("no connection to"));
  proxy().refuse(false);
  ASSERT_TRUE(wait_for([&] { return lines_with("is back after").size() == 2; }));
  end();
  const std::vector<std::string> all = lines_after_held();
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_THAT(all[0], MatchesRegex("I.* zkrecipes: the connection to .* is back after .*"));
  EXPECT_THAT(all[1], MatchesRegex("W.* zkrecipes: no connection to .* for 1[0-9]+ ms: .*[^.]"));
  EXPECT_THAT(all[2], MatchesRegex("I.* zkrecipes: the connection to .* is back after .*"));
  const std::regex time("[0-9]{2}:[0-9]{2}:[0-9]{2}");
  for (const std::string& line : all)
    EXPECT_EQ(std::distance(std::sregex_iterator(line.begin(), line.end(), time), std::sregex_iterator()), 1) << line;
}

// Without details the refusals are the reason in a line of ours.
TEST_F(LogProcessTest, GlogWithDetails_HasEverythingThatTheCClientFindsWrong) {
  start("glog-details");
  ASSERT_TRUE(wait_for_words("held "));
  proxy().refuse(true);
  const auto refusals = [this] {
    const auto all = lines_with("refused to accept the client");
    return std::count_if(all.begin(), all.end(), [](const std::string& line) {
      return line.find("the ZooKeeper C client says: ") != std::string::npos;
    });
  };
  EXPECT_TRUE(wait_for([&] { return refusals() >= 3; })) << refusals();
  proxy().refuse(false);
  end();
}

TEST_F(LogProcessTest, ASink_IsGivenAllAndNothingIsPrintedBesides) {
  start("sink");
  ASSERT_TRUE(wait_for_words("held "));
  const auto [node, token] = held();
  lose_connection();
  ASSERT_TRUE(wait_for_words("is back after"));
  expire(session_of(node));
  ASSERT_TRUE(wait_for_words("with a new session"));
  end();
  EXPECT_THAT(lines_after_held(),
              ::testing::UnorderedElementsAre(
                  MatchesRegex("sink info: the connection to .* is back after [0-9]+ ms, with the same session at .*"),
                  MatchesRegex("sink warning: the session with .* is over; a new one is being made"),
                  "sink warning: hold lost: node " + node + ", token " + token + ": its session is over",
                  MatchesRegex("sink info: the connection to .* is back after [0-9]+ ms, with a new session at .*")));
}

}  // namespace
}  // namespace zkrecipes::testing
