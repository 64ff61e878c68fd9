// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <unistd.h>

#include "examples/pause/chart.h"
#include "examples/pause/scenario.h"
#include "examples/pause/writer.h"
#include "examples/support/crew.h"
#include "examples/support/program.h"
#include "examples/support/role.h"
#include "examples/support/store.h"

namespace {

using pause_example::Outcome;

/// One for each guard. Side by side, for most of the time is spent waiting for the session to end.
std::vector<Outcome> run_all(const std::string& servers, int session_timeout, int run) {
  const auto& guards = pause_example::guards();
  std::vector<Outcome> outcomes(guards.size());
  examples::Crew crew;
  for (std::size_t i = 0; i < guards.size(); ++i)
    crew.start([&, i] {
      const std::string path = "/zkrecipes-examples/pause/" + std::to_string(::getpid()) + "-" + std::to_string(run) +
                               "-" + std::to_string(i);
      outcomes[i] = run_scenario(guards[i], servers, session_timeout, path);
    });
  crew.join();
  return outcomes;
}

void print_timelines(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes)
    std::cout << "-- " << outcome.guard->title << " --\n"
              << as_text(outcome.events) << "=> " << outcome.verdict() << "\n"
              << std::endl;
}

void print_summary(const std::vector<std::vector<Outcome>>& runs) {
  const auto count = [&](std::size_t guard, auto&& property) {
    return std::count_if(runs.begin(), runs.end(), [&](const auto& run) { return property(run[guard]); });
  };
  std::cout << std::left << std::setw(46) << "" << std::right << std::setw(6) << "runs" << std::setw(14)
            << "updates lost" << std::setw(16) << "writes refused" << std::setw(17) << "noticed in time\n";
  for (std::size_t i = 0; i < pause_example::guards().size(); ++i)
    std::cout << std::left << std::setw(46) << pause_example::guards()[i].title << std::right << std::setw(6)
              << runs.size() << std::setw(14) << count(i, [](const Outcome& o) { return o.lost_update(); })
              << std::setw(16) << count(i, [](const Outcome& o) { return o.refused; }) << std::setw(16)
              << count(i, [](const Outcome& o) { return o.gave_up; }) << '\n';
  std::cout
      << "\nis_valid() narrows the window in which a pause does harm, but cannot close it: a pause can fall between\n"
         "the check and the write. Only the store can tell a late write, by its token."
      << std::endl;
}

/// This program is also its own store and writers. True if it was started as one of them.
bool play_role(examples::Program& program, const std::string& role) {
  return examples::play_role(
      role, {{"writer", [&](std::istream& words) { run_writer(program, pause_example::WriterSpec::decode(words)); }},
             {"store", [](std::istream& words) { examples::serve_store(words); }}});
}

}  // namespace

int main(int argc, char** argv) {
  examples::Program program(
      "pause",
      "A holder is stopped (SIGSTOP) longer than its session lives, just before it writes. Another\n"
      "one gets the lock and writes. Then the first wakes up and writes, too: once without a check,\n"
      "with is_valid() checked before and after the pause, and with a store that checks the token.");
  int runs = 1;
  int session_timeout = 800;
  std::string folder = "pause_report";
  std::string role;
  program.options().number("runs", &runs, 1, 1000, "how often; the timeline is of the first");
  program.options().number("session-timeout", &session_timeout, 400, 60'000,
                           "milliseconds; the server may have a larger minimum");
  program.options().text("output", &folder, "folder for the chart");
  program.options().hidden_text("role", &role);

  return program.run(argc, argv, [&] {
    if (play_role(program, role)) return;
    program.connect("check");  // says so if there is no server, before anything is started
    std::vector<std::vector<Outcome>> all;
    for (int run = 0; run < runs; ++run) {
      all.push_back(run_all(program.servers(), session_timeout, run));
      if (run == 0) print_timelines(all.front());
    }
    print_summary(all);
    std::filesystem::create_directories(folder);
    const std::string stem = std::filesystem::path(folder) / "pause";
    draw_outcomes(all.front(), stem);
    std::cout << "chart: " << stem << ".png" << std::endl;
  });
}
