// SPDX-License-Identifier: Apache-2.0
#include "connection/guid.h"

#include <array>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace zkrecipes::detail {
namespace {

TEST(GuidTest, Guid_IsACanonicalLowerCaseRandomUuidAndNeverTheSame) {
  const std::regex canonical("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string guid = make_guid();
    EXPECT_TRUE(std::regex_match(guid, canonical)) << guid;
    EXPECT_TRUE(seen.insert(guid).second) << guid;
  }
}

TEST(GuidTest, Threads_DrawDifferentOnes) {
  std::vector<std::vector<std::string>> drawn(8);
  std::vector<std::thread> threads;
  for (auto& mine : drawn)
    threads.emplace_back([&mine] {
      for (int i = 0; i < 200; ++i) mine.push_back(make_guid());
    });
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& mine : drawn) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 8u * 200u);
}

TEST(GuidTest, ParentAndChildOfAFork_DrawDifferentOnes) {
  make_guid();  // some are in stock now
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  constexpr std::size_t kLength = 36;
  if (child == 0) {
    const std::string guid = make_guid();
    ::_exit(::write(ends[1], guid.data(), kLength) == static_cast<ssize_t>(kLength) ? 0 : 1);
  }
  std::string of_child(kLength, ' ');
  EXPECT_EQ(::read(ends[0], of_child.data(), kLength), static_cast<ssize_t>(kLength));
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (int i = 0; i < 64; ++i) EXPECT_NE(make_guid(), of_child);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace zkrecipes::detail
