// SPDX-License-Identifier: Apache-2.0
// The real library in a simulated world, seed after seed.
#include <atomic>
#include <boost/program_options.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <glog/logging.h>
#include <iomanip>
#include <iostream>
#include <limits>
#include <string>

#include "tests/simulation/faults.h"
#include "tests/simulation/run.h"
#include "tests/simulation/trace_report.h"

namespace {

namespace options = boost::program_options;
using namespace zkrecipes::simulation;
using WallClock = std::chrono::steady_clock;

std::atomic<bool> interrupted{false};

struct Settings {
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = std::numeric_limits<std::uint64_t>::max();
  double minutes = 0;
  std::uint64_t acquires = 0;
  FaultSet faults;
  bool trace = false;
  bool quiet = false;
  bool must_be_caught = false;
};

/// What all runs together have done.
class Summary {
 public:
  void add(const RunResult& run) {
    ++runs_;
    acquires_ += run.acquires;
    steps_ += run.steps;
    simulated_ += run.simulated;
  }
  std::uint64_t acquires() const { return acquires_; }
  double seconds() const { return std::chrono::duration<double>(WallClock::now() - began_).count(); }

  void print(std::ostream& out) const {
    const double wall = seconds();
    const double hours = std::chrono::duration<double>(simulated_).count() / 3600;
    out << runs_ << " runs, " << acquires_ << " acquires, " << std::fixed << std::setprecision(2) << hours
        << " simulated hours in " << std::setprecision(1) << wall << " s: " << std::setprecision(0)
        << static_cast<double>(acquires_) / wall << " acquires/s, " << std::setprecision(2) << hours / (wall / 60)
        << " simulated hours per minute, " << std::setprecision(0) << static_cast<double>(steps_) / wall << " events/s"
        << std::endl;
  }

 private:
  const WallClock::time_point began_ = WallClock::now();
  std::uint64_t runs_ = 0;
  std::uint64_t acquires_ = 0;
  std::uint64_t steps_ = 0;
  Time simulated_{};
};

std::string describe_faults() {
  std::string text = "comma-separated, \"all\" (the default: all but drift_beyond) or \"none\":";
  for (const Fault fault : all_faults()) text += std::string(" ") + to_string(fault);
  return text;
}

/// False when the arguments ask for help only.
bool parse(int argc, char** argv, Settings& settings) {
  options::options_description known("simulate: the library in a simulated world, one run for each seed");
  std::string faults = "all";
  std::uint64_t seeds = 0;
  known.add_options()("help,h", "print this")                                                            //
      ("seed", options::value(&settings.first_seed), "the first seed (1); alone, only this one is run")  //
      ("seeds", options::value(&seeds), "how many seeds from there on")                                  //
      ("minutes", options::value(&settings.minutes), "stop after this time")                             //
      ("acquires", options::value(&settings.acquires), "stop after this number of acquires")             //
      ("faults", options::value(&faults), describe_faults().c_str())                                     //
      ("trace", options::bool_switch(&settings.trace), "print the whole trace of each run")              //
      ("quiet", options::bool_switch(&settings.quiet), "no progress")                                    //
      ("must-be-caught", options::bool_switch(&settings.must_be_caught), "fail if there is no violation");
  options::variables_map given;
  options::store(options::parse_command_line(argc, argv, known), given);
  options::notify(given);
  if (given.count("help") != 0) {
    std::cout << known
              << "\nWithout a limit it runs for one minute. Exit code: 0 no violation, 1 violation, 2 wrong "
                 "arguments.\n";
    return false;
  }
  settings.faults = parse_faults(faults);
  const bool limited = seeds != 0 || settings.minutes > 0 || settings.acquires != 0;
  if (seeds != 0)
    settings.seeds = seeds;
  else if (!limited && given.count("seed") != 0)
    settings.seeds = 1;
  else if (!limited)
    settings.minutes = 1;
  return true;
}

void explain(RunOptions run) {
  run.keep_trace = true;
  const RunResult again = run_simulation(run);
  std::cout << "seed " << run.seed << ":\n";
  if (again.violation)
    print_violation(std::cout, again);
  else
    std::cout << "the violation does not show again: the simulation is not deterministic\n";
}

/// Whether there was a violation.
bool simulate(const Settings& settings) {
  Summary summary;
  double next_report = 5;
  bool violated = false;
  for (std::uint64_t n = 0; n < settings.seeds && !interrupted; ++n) {
    if (settings.minutes > 0 && summary.seconds() >= settings.minutes * 60) break;
    if (settings.acquires > 0 && summary.acquires() >= settings.acquires) break;
    RunOptions run;
    run.seed = settings.first_seed + n;
    run.faults = settings.faults;
    run.keep_trace = settings.trace;
    const RunResult result = run_simulation(run);
    summary.add(result);
    if (settings.trace) print_trace(std::cout, result);
    if (result.violation) {
      violated = true;
      explain(run);
      std::cout << "replay: --seed " << run.seed << (settings.trace ? "" : " (add --trace for all of it)") << '\n';
      break;
    }
    if (!settings.quiet && summary.seconds() >= next_report) {
      summary.print(std::cerr);
      next_report = summary.seconds() + 5;
    }
  }
  std::cout << (violated ? "VIOLATION after " : "no violation: ");
  summary.print(std::cout);
  return violated;
}

}  // namespace

int main(int argc, char** argv) {
  google::InitGoogleLogging(argv[0]);
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_FATAL;  // outages are the point here
  std::signal(SIGINT, [](int) { interrupted = true; });
  std::signal(SIGTERM, [](int) { interrupted = true; });
  Settings settings;
  try {
    if (!parse(argc, argv, settings)) return 0;
  } catch (const std::exception& error) {
    std::cerr << "simulate: " << error.what() << " (see --help)\n";
    return 2;
  }
  const bool violated = simulate(settings);
  return violated == settings.must_be_caught ? 0 : 1;
}
