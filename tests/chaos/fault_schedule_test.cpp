// SPDX-License-Identifier: Apache-2.0
#include "tests/chaos/fault_schedule.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <stdexcept>

namespace zkrecipes::testing {
namespace {

std::string plan(std::uint32_t seed, int faults, const std::vector<FaultKind>& kinds) {
  FaultSchedule schedule(seed, kinds);
  std::ostringstream text;
  for (int i = 0; i < faults; ++i) {
    const PlannedFault fault = schedule.next();
    text << to_string(fault.kind) << ' ' << fault.client << ' ' << fault.server << ' ' << fault.request << ' '
         << fault.severity << ' ' << fault.pause_after.count() << '\n';
  }
  return text.str();
}

const std::vector<FaultKind> kAll(kFaultKinds.begin(), kFaultKinds.end());

TEST(FaultScheduleTest, TheSeedReproducesTheSchedule) {
  EXPECT_EQ(plan(7, 200, kAll), plan(7, 200, kAll));
  EXPECT_NE(plan(7, 200, kAll), plan(8, 200, kAll));
}

TEST(FaultScheduleTest, EachRoundHasEachKindOnce) {
  FaultSchedule schedule(3, kAll);
  for (int round = 0; round < 20; ++round) {
    std::map<FaultKind, int> counts;
    for (std::size_t i = 0; i < kAll.size(); ++i) ++counts[schedule.next().kind];
    EXPECT_EQ(counts.size(), kAll.size());
  }
}

TEST(FaultScheduleTest, NamesAreReadAsTheyArePrinted) {
  for (const FaultKind kind : kAll) EXPECT_EQ(fault_kind(to_string(kind)), kind);
  EXPECT_THROW(fault_kind("earthquake"), std::invalid_argument);
  EXPECT_THROW(FaultSchedule(1, {}), std::invalid_argument);
}

}  // namespace
}  // namespace zkrecipes::testing
