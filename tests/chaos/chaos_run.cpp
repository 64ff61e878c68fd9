// SPDX-License-Identifier: Apache-2.0
//
// Clients of all recipes under faults from a seed; then the checker's verdict on what they wrote down.
#include <boost/program_options.hpp>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "testkit/command_line.h"
#include "testkit/temporary_folder.h"
#include "tests/chaos/chaos_recipes.h"
#include "tests/chaos/chaos_world.h"
#include "tests/chaos/fault_schedule.h"
#include "tests/support/test_server.h"

namespace {

namespace po = boost::program_options;
using namespace zkrecipes::testing;
using SteadyClock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kSkipped = 77;

struct RunOptions {
  ChaosOptions world;
  std::vector<FaultKind> faults;
  double minutes = 1;
  double floor = 10;     // grants per second, over the whole run
  double max_wait = 15;  // seconds, for a grant after the faults
  bool must_be_caught = false;
  bool plan_only = false;
};

struct Findings {
  long grants = 0;
  std::size_t violations = 0;
};

Findings look_at(const ChaosWorld& world, const RunOptions& options, bool final_look) {
  Findings found;
  for (const ChaosRecipe& recipe : kChaosRecipes) {
    bool used = false;
    for (const std::string& name : options.world.recipes) used = used || name == recipe.name;
    if (!used) continue;
    const History all = world.history(recipe.name);
    const Verdict verdict = check_history(final_look ? all : ended_operations(all), recipe.model, kChaosPermits);
    found.grants += verdict.grants;
    found.violations += verdict.violations.size();
    if (final_look) std::cout << "  " << recipe.name << ": " << verdict << '\n';
  }
  return found;
}

double longest_wait_after(const ChaosWorld& world, const RunOptions& options, std::int64_t since) {
  std::int64_t longest = 0;
  for (const std::string& recipe : options.world.recipes)
    longest = std::max(longest, longest_wait(world.history(recipe), since, history_time()));
  return static_cast<double>(longest) / 1e9;
}

/// Faults until the time is over, or until something is found where that is the purpose.
void rage(ChaosWorld& world, const RunOptions& options) {
  FaultSchedule schedule(options.world.seed, options.faults);
  const auto start = SteadyClock::now();
  const auto end = start + std::chrono::duration_cast<SteadyClock::duration>(Seconds(options.minutes * 60));
  auto next_line = start + std::chrono::seconds(5);
  for (int faults = 1; SteadyClock::now() < end; ++faults) {
    const PlannedFault fault = schedule.next();
    world.inflict(fault);
    if (SteadyClock::now() < next_line) continue;
    const Findings found = look_at(world, options, false);
    const auto now = SteadyClock::now();
    std::cout << "  " << std::chrono::duration_cast<std::chrono::seconds>(now - start).count() << " s: " << found.grants
              << " acquires, " << faults << " faults (last: " << to_string(fault.kind) << "), " << found.violations
              << " violations" << std::endl;
    next_line = now + (end - start > std::chrono::minutes(3) ? std::chrono::seconds(20) : std::chrono::seconds(5));
    if (options.must_be_caught && found.violations > 0) return;
  }
}

int run(const RunOptions& options) {
  const testkit::TemporaryFolder scratch;
  const auto start = SteadyClock::now();
  ChaosWorld world(options.world, scratch.file(""));
  std::cout << "chaos: " << options.world.processes << " processes x " << kChaosConnections << " connections x "
            << kChaosThreads << " threads and a patient one, seed " << options.world.seed << std::endl;
  rage(world, options);

  const std::int64_t calm = history_time();
  std::this_thread::sleep_for(std::chrono::seconds(5));
  world.stop_clients();
  const double wait = longest_wait_after(world, options, calm);
  const std::vector<std::string> orphans = world.orphans();
  const bool well = world.finish_clients();
  const Findings found = look_at(world, options, true);
  const double rate = static_cast<double>(found.grants) / Seconds(SteadyClock::now() - start).count();

  std::cout << "faults:";
  for (const auto& [kind, number] : world.counts()) std::cout << ' ' << to_string(kind) << ' ' << number;
  std::cout << "\norphans " << orphans.size();
  for (const std::string& orphan : orphans) std::cout << "\n  " << orphan;
  std::cout << "\nlongest wait for a grant after the faults " << wait << " s (limit " << options.max_wait << ")\n"
            << "acquires " << found.grants << ", per second " << rate << " (floor " << options.floor << ")\n";
  if (!well) std::cout << "a client did not end well\n";

  const bool clean = found.violations == 0 && orphans.empty() && wait <= options.max_wait && well;
  if (options.must_be_caught) {
    std::cout << (clean ? "NOT CAUGHT" : "caught") << std::endl;
    return clean ? 1 : 0;
  }
  const bool busy = rate >= options.floor;
  std::cout << (clean && busy ? "no violation" : clean ? "TOO FEW ACQUIRES" : "REFUSED") << std::endl;
  return clean && busy ? 0 : 1;
}

void print_plan(const RunOptions& options) {
  FaultSchedule schedule(options.world.seed, options.faults);
  for (int i = 0; i < 50; ++i) {
    const PlannedFault fault = schedule.next();
    std::cout << to_string(fault.kind) << " client " << fault.client << " server " << fault.server << " request "
              << fault.request << " severity " << fault.severity << " then " << fault.pause_after.count() << " ms\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  RunOptions options;
  std::string recipes = "all";
  std::string faults = "all";
  po::options_description description("chaos_run: clients of all recipes under faults; is every promise kept?");
  auto add = description.add_options();
  add("minutes", po::value(&options.minutes)->default_value(1), "how long faults go on");
  add("seed", po::value(&options.world.seed)->default_value(1), "gives the schedule of faults");
  add("recipe", po::value(&recipes)->default_value("all"),
      "fair,simple,recursive,read_write,semaphore,patient,retained");
  add("fault", po::value(&faults)->default_value("all"), "kinds of faults, e.g. reply_dropped,leader_kill");
  add("processes", po::value(&options.world.processes)->default_value(4), "client processes");
  add("floor", po::value(&options.floor)->default_value(10), "acquires per second below which the run fails");
  add("max-wait", po::value(&options.max_wait)->default_value(15), "seconds to the last grant after the faults");
  add("worker", po::value(&options.world.worker)->default_value(ZKRECIPES_CHAOS_WORKER), "the client program");
  add("must-be-caught", po::bool_switch(&options.must_be_caught), "succeed only if the run is refused");
  add("plan", po::bool_switch(&options.plan_only), "print the first faults of the seed and end");
  try {
    if (!testkit::parse_command_line(argc, argv, description)) return 0;
    if (options.minutes <= 0 || options.world.processes < 1) throw po::error("numbers must be above 0");
    for (const std::string& name : split_list(recipes)) {
      bool known = name == "all";
      for (const ChaosRecipe& recipe : kChaosRecipes)
        if (name == "all" || name == recipe.name) {
          options.world.recipes.emplace_back(recipe.name);
          known = true;
        }
      if (!known) throw po::error("no such recipe: " + name);
    }
    if (faults == "all")
      options.faults.assign(kFaultKinds.begin(), kFaultKinds.end());
    else
      for (const std::string& name : split_list(faults)) options.faults.push_back(fault_kind(name));
    if (options.plan_only) {
      print_plan(options);
      return 0;
    }
  } catch (const std::exception& error) {
    std::cerr << "chaos_run: " << error.what() << " (see --help)\n";
    return 2;
  }
  if (external_servers()) {
    std::cout << "chaos_run: skipped, it needs servers that it can control\n";
    return kSkipped;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "chaos_run: " << error.what() << '\n';
    return 1;
  }
}
