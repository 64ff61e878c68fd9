// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/run.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "tests/simulation/client_process.h"
#include "tests/simulation/stage.h"

namespace zkrecipes::simulation {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kIncarnations = 100;  // process 203 is the third one in the place of process 3

/// Servers may allow less than the longest timeout that connections ask for, so that a session that moves negotiates
/// another one. Between the server's answer to a reconnect and the client that reads it, the server counts with less
/// than the client believes; docs/guarantees.md does not promise anything for that time. A fifth less is covered by
/// the margin of the lease, which ends before three quarters of the timeout that the client believes in.
void draw_timeouts(Random& random, EnsembleOptions& options) {
  const Time longest = (3 + static_cast<int>(random.below(5))) * options.tick;
  options.max_session_timeout = std::chrono::duration_cast<milliseconds>(longest);
  if (!random.chance(0.3)) return;
  for (int server = 0; server < options.servers; ++server)
    options.max_session_timeouts.push_back(std::chrono::duration_cast<milliseconds>(
        std::max<Time>(3 * options.tick, random.between(longest * 4 / 5, longest))));
}

EnsembleOptions draw_ensemble(Random& random) {
  EnsembleOptions options;
  const double size = random.fraction();
  options.servers = size < 0.1 ? 1 : size < 0.8 ? 3 : 5;
  options.tick = milliseconds(random.chance(0.5) ? 2000 : 1000);
  options.sync_limit = 2 + static_cast<int>(random.below(9));
  options.init_limit = 10;
  draw_timeouts(random, options);
  if (random.chance(0.2)) options.max_request_bytes = kSmallBuffer;
  constexpr int kContainerChecks[] = {1'000, 5'000, 60'000};
  options.container_check_interval = milliseconds(kContainerChecks[random.below(3)]);
  return options;
}

class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options),
        scheduler_(options.seed),
        trace_(scheduler_),
        ensemble_(scheduler_, trace_, draw_ensemble(scheduler_.random())),
        names_(ensemble_),
        checker_(scheduler_),
        stage_{scheduler_, trace_, ensemble_, names_, checker_, ensemble_.addresses()} {
    trace_.keep_lines(options.keep_trace);
    if (options.faults.count(Fault::drift_beyond) != 0) checker_.allow_overlaps();
    ensemble_.on_change([this](const Ensemble::Change& change) {
      if (change.kind == Ensemble::Change::Kind::created)
        stage_.created_at[std::string(change.path)] = scheduler_.now();
      else if (change.kind == Ensemble::Change::Kind::deleted)
        stage_.created_at.erase(std::string(change.path));
    });
  }

  RunResult play() {
    set_the_stage();
    FaultInjector injector(stage_, processes_, options_.faults, [this](std::size_t index) { replace(index); });
    injector.start();
    run_until(scheduler_.now() + scheduler_.random().between(seconds(20), seconds(120)));
    if (!checker_.violation()) {
      injector.stop();
      wind_down();
    }
    RunResult result;
    result.violation = checker_.violation();
    result.acquires = checker_.grants();
    result.simulated = scheduler_.now();
    result.digest = trace_.digest();
    result.steps = scheduler_.steps();
    result.trace = trace_.lines();  // without the end of the processes, which is nobody's doing
    processes_.clear();
    buried_.clear();
    return result;
  }

 private:
  void set_the_stage() {
    Random& random = scheduler_.random();
    stage_.session_timeout = ensemble_.options().max_session_timeout;
    stage_.calm = random.chance(0.6);
    if (options_.faults.count(Fault::one_server) != 0) stage_.one_server = 0.2;
    const std::size_t count = 2 + random.below(4);
    for (std::size_t i = 0; i < count; ++i) add_path(random);
    const std::size_t clients = 2 + random.below(4);
    for (std::size_t i = 0; i < clients; ++i) processes_.push_back(make_process(static_cast<int>(i) + 1));
    for (const auto& process : processes_) process->start();
  }

  void add_path(Random& random) {
    constexpr const char* kNames[] = {"mutex", "simple", "semaphore", "read_write"};
    LockPath path;
    const std::uint64_t family = random.below(4);
    path.family = static_cast<LockFamily>(family);
    path.path = kRootPath + "/" + kNames[family] + "_" + std::to_string(stage_.paths.size());
    path.permits = path.family == LockFamily::semaphore ? 1 + static_cast<int>(random.below(4)) : 1;
    path.version_token =
        (path.family == LockFamily::fair || path.family == LockFamily::read_write) && random.chance(0.15);
    path.slow = random.chance(stage_.calm ? 0.8 : 0.5);
    path.id = checker_.add_path(path.path, path.permits);
    stage_.paths.push_back(std::move(path));
  }

  std::unique_ptr<ClientProcess> make_process(int number) {
    const bool drifts = options_.faults.count(Fault::drift) != 0;
    const double rate = drifts ? 0.97 + 0.06 * scheduler_.random().fraction() : 1.0;
    return std::make_unique<ClientProcess>(stage_, number, rate);
  }

  void replace(std::size_t index) {
    const int number = processes_[index]->number() + kIncarnations;
    auto next = make_process(number);
    ClientProcess* const started = next.get();
    buried_.push_back(std::exchange(processes_[index], std::move(next)));
    scheduler_.after(scheduler_.random().between({}, stage_.session_timeout), [started] {
      if (started->is_alive()) started->start();
    });
  }

  bool run_until(Time time) {
    while (scheduler_.now() < time && !checker_.violation())
      if (!scheduler_.step()) break;
    return !checker_.violation();
  }

  /// Runs on until it is true; false when the time is over first.
  template <class Condition>
  bool reach(Time patience, const Condition& condition) {
    const Time deadline = scheduler_.now() + patience;
    while (!condition()) {
      if (scheduler_.now() >= deadline || checker_.violation()) return false;
      run_until(std::min(deadline, scheduler_.now() + milliseconds(100)));
    }
    return true;
  }

  /// No faults any more: everybody is served, nothing is left behind.
  void wind_down() {
    // Clients that have backed off, sessions of the dead that must expire first, and the holds of those ahead.
    const Time patience = 6 * stage_.session_timeout + seconds(60);
    run_until(scheduler_.now() + milliseconds(1));
    for (const auto& process : processes_) process->wind_down();
    const auto idle = [&] {
      return std::all_of(processes_.begin(), processes_.end(), [](const auto& one) { return one->is_idle(); });
    };
    if (!reach(patience, idle)) return report_unfinished("not served although all faults have ended: ");
    const auto unloaded = [&] {
      return std::none_of(processes_.begin(), processes_.end(), [](const auto& one) { return one->has_load(); });
    };
    if (!reach(patience, unloaded)) return report_unfinished("not everything comes back to zero: ");
    for (const auto& process : processes_) process->check_events();
    if (!reach(patience, [&] { return leftover().empty(); }))
      return checker_.report("a node is left behind: " + leftover(), 0);
    for (const auto& process : processes_) process->close();
    if (!reach(patience, [&] { return ensemble_.sessions().empty(); }))
      return checker_.report("a session is left behind", 0);
  }

  void report_unfinished(const std::string& what) {
    for (const auto& process : processes_) process->report_unfinished(what);
  }

  /// A node of a contender, although nobody contends.
  std::string leftover() const {
    std::string found;
    ensemble_.for_each_node([&](const Ensemble::Node& node) {
      if (node.owner != 0 && found.empty()) found = std::string(node.path);
    });
    return found;
  }

  const RunOptions& options_;
  Scheduler scheduler_;
  Trace trace_;
  Ensemble ensemble_;
  NameService names_;
  LockChecker checker_;
  Stage stage_;
  std::vector<std::unique_ptr<ClientProcess>> processes_;
  std::vector<std::unique_ptr<ClientProcess>> buried_;  // what was posted still refers to them
};

}  // namespace

RunResult run_simulation(const RunOptions& options) {
  return Run(options).play();
}

}  // namespace zkrecipes::simulation
