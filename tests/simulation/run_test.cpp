// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/run.h"

#include <glog/logging.h>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>

#include "tests/simulation/trace_report.h"

namespace zkrecipes::simulation {
namespace {

// Outages are the point here.
[[maybe_unused]] const bool kQuiet = [] {
  FLAGS_minloglevel = google::GLOG_FATAL;
  return true;
}();

std::string trace_of(std::uint64_t seed) {
  RunOptions options;
  options.seed = seed;
  options.keep_trace = true;
  std::ostringstream text;
  print_trace(text, run_simulation(options));
  return text.str();
}

TEST(Simulation, SameSeedTwice_GivesTheSameTraceByteForByte) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::string trace = trace_of(seed);
    EXPECT_GT(trace.size(), 10'000U);
    EXPECT_TRUE(trace == trace_of(seed)) << "seed " << seed;
  }
}

TEST(Simulation, KeepingTheTrace_ChangesNothing) {
  for (std::uint64_t seed = 11; seed <= 15; ++seed) {
    RunOptions options;
    options.seed = seed;
    const RunResult without = run_simulation(options);
    options.keep_trace = true;
    const RunResult with = run_simulation(options);
    EXPECT_EQ(without.digest, with.digest) << "seed " << seed;
    EXPECT_EQ(without.steps, with.steps) << "seed " << seed;
  }
}

TEST(Simulation, OtherSeed_GivesAnotherTrace) {
  EXPECT_NE(trace_of(1), trace_of(2));
}

TEST(Simulation, WithoutFaults_NothingIsViolated) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    RunOptions options;
    options.seed = seed;
    options.faults = {};
    const RunResult result = run_simulation(options);
    EXPECT_FALSE(result.violation) << "seed " << seed << ": " << result.violation->what;
    EXPECT_GT(result.acquires, 10U) << "seed " << seed;
  }
}

TEST(Simulation, ClocksBeyondTheMargin_LeaveTokensAndServiceIntact) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RunOptions options;
    options.seed = seed;
    options.faults.insert(Fault::drift_beyond);
    const RunResult result = run_simulation(options);
    EXPECT_FALSE(result.violation) << "seed " << seed << ": " << result.violation->what;
  }
}

TEST(Faults, List_IsParsed) {
  EXPECT_EQ(parse_faults("cut,lag"), (FaultSet{Fault::cut, Fault::lag}));
  EXPECT_EQ(parse_faults("none"), FaultSet{});
  EXPECT_EQ(parse_faults("all"), default_faults());
  EXPECT_EQ(default_faults().count(Fault::drift_beyond), 0U);
  EXPECT_THROW(parse_faults("cut,earthquake"), std::invalid_argument);
}

}  // namespace
}  // namespace zkrecipes::simulation
