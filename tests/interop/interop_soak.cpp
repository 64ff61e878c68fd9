// SPDX-License-Identifier: Apache-2.0
//
// Several processes of each language on one mutex for minutes, one killed and replaced now and then.
#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "testkit/command_line.h"
#include "tests/interop/fleet.h"
#include "tests/support/plain_client.h"
#include "tests/support/test_server.h"

namespace {

namespace po = boost::program_options;
using namespace zkrecipes::testing;
using SteadyClock = std::chrono::steady_clock;

constexpr const char* kPath = "/soak";

struct Looper {
  Language language;
  WorkerProcess* process;
};

Looper start_loop(Fleet& fleet, Language language) {
  WorkerProcess& process = fleet.start_ready(language);
  process.send(std::string("loop exclusive ") + kPath);
  return {language, &process};
}

bool begins(const std::string& rule, const std::string& beginning) {
  return rule.compare(0, beginning.size(), beginning) == 0;
}

int report(const Verdict& verdict, const std::map<std::string, long>& grants, std::size_t left, int kills) {
  long overlaps = 0;
  long order = 0;
  for (const Violation& violation : verdict.violations) {
    if (begins(violation.rule, "one holder")) ++overlaps;
    if (begins(violation.rule, "tokens grow")) ++order;
  }
  std::cout << verdict << '\n';
  for (const auto& [language, number] : grants) std::cout << "  " << language << ": " << number << " grants\n";
  std::cout << "kills " << kills << ", overlaps " << overlaps << ", FIFO violations " << order << ", left-over nodes "
            << left << std::endl;
  return verdict.accepted() && left == 0 ? 0 : 1;
}

int soak(double minutes, int processes, std::uint32_t seed, std::chrono::seconds between_kills) {
  TestServer server;
  Fleet fleet(server.address(), std::chrono::milliseconds(3'000));
  std::mt19937 random(seed);
  std::vector<Looper> loopers;
  for (int i = 0; i < processes; ++i)
    for (const Language language : kLanguages) loopers.push_back(start_loop(fleet, language));
  std::cout << "interop: " << loopers.size() << " processes, seed " << seed << std::endl;

  const auto start = SteadyClock::now();
  const auto end =
      start + std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(minutes * 60));
  int kills = 0;
  for (auto next = start + between_kills; next < end; next += between_kills) {
    std::this_thread::sleep_until(next);
    Looper& victim = loopers[random() % loopers.size()];
    fleet.kill(*victim.process);
    victim = start_loop(fleet, victim.language);
    ++kills;
    const Verdict now = check_history(ended_operations(fleet.history()), LockModel::retained_mutex);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(SteadyClock::now() - start).count();
    std::cout << "  " << seconds << " s: " << now.grants << " grants, " << kills << " kills ("
              << to_string(victim.language) << "), " << now.violations.size() << " violations" << std::endl;
  }
  std::this_thread::sleep_until(end);
  for (const Looper& looper : loopers) looper.process->send("stop");
  int unwell = 0;
  for (const Looper& looper : loopers) looper.process->expect("stopped", std::chrono::seconds(60));

  // While the sessions still live: what is there now, nobody would have removed.
  PlainClient plain(server.address());
  const auto settled = SteadyClock::now() + std::chrono::seconds(10);
  std::size_t left = plain.children(kPath).size();
  for (; left > 0 && SteadyClock::now() < settled; left = plain.children(kPath).size())
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (const Looper& looper : loopers)
    if (!fleet.finish(*looper.process)) ++unwell;
  if (unwell > 0) std::cout << unwell << " processes did not end well\n";

  const History history = fleet.history();
  std::map<std::string, long> grants;
  for (const HistoryEvent& event : history)
    if (event.kind == HistoryEvent::Kind::ok)
      ++grants[event.process.substr(0, event.process.find_first_of("0123456789"))];
  return report(check_history(history, LockModel::retained_mutex), grants, left, kills) + (unwell > 0 ? 1 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  double minutes = 5;
  int processes = 4;
  int between_kills = 5;
  std::uint32_t seed = 1;
  po::options_description options("interop_soak: C++, Java and Python processes on one mutex, killed at random");
  options.add_options()("minutes", po::value(&minutes)->default_value(minutes, "5"), "how long")(
      "processes", po::value(&processes)->default_value(processes), "of each language")(
      "kill-every", po::value(&between_kills)->default_value(between_kills), "seconds between two kills")(
      "seed", po::value(&seed)->default_value(seed), "for who is killed");
  try {
    if (!testkit::parse_command_line(argc, argv, options)) return 0;
    if (minutes <= 0 || processes < 1 || between_kills < 1) throw po::error("numbers must be above 0");
  } catch (const po::error& error) {
    std::cerr << "interop_soak: " << error.what() << " (see --help)\n";
    return 2;
  }
  try {
    return soak(minutes, processes, seed, std::chrono::seconds(between_kills));
  } catch (const std::exception& error) {
    std::cerr << "interop_soak: " << error.what() << '\n';
    return 1;
  }
}
