// SPDX-License-Identifier: Apache-2.0
//
// The fencing experiment: holders of a lock are paused for longer than their session while they change a resource
// outside ZooKeeper. Without a FencingGate the resource must lose updates, with one it must lose none.
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "testkit/temporary_folder.h"
#include "tests/chaos/counter_client.h"
#include "tests/interop/worker_process.h"
#include "tests/support/history_checker.h"
#include "tests/support/test_server.h"

namespace {

using namespace zkrecipes::testing;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr int kWorkers = 4;
constexpr int kPauses = 6;
constexpr milliseconds kSession{1'000};

struct Outcome {
  long number = 0;
  long accepted = 0;
  long refused = 0;
  long lost = 0;
  bool tokens_in_order = false;
};

/// The name of a worker that has read and not written yet.
std::string await_reader(const CounterClient& counter) {
  const auto limit = SteadyClock::now() + std::chrono::seconds(20);
  while (SteadyClock::now() < limit) {
    const std::string name = counter.ask("reader");
    if (name != "-") return name;
    std::this_thread::sleep_for(milliseconds(1));
  }
  throw std::runtime_error("nobody uses the counter");
}

Outcome experiment(const std::string& servers, bool gated) {
  const testkit::TemporaryFolder scratch;
  WorkerProcess server(
      {ZKRECIPES_COUNTER_SERVER, scratch.file("counter"), gated ? "gated" : "open", scratch.file("history")});
  const int port = std::stoi(server.expect("listening ").substr(10));
  const CounterClient counter(port);
  std::map<std::string, std::unique_ptr<WorkerProcess>> workers;
  for (int i = 1; i <= kWorkers; ++i) {
    const std::string name = "worker" + std::to_string(i);
    workers[name] = std::make_unique<WorkerProcess>(std::vector<std::string>{
        ZKRECIPES_CARELESS_WORKER, servers, std::to_string(kSession.count()), std::to_string(port), name});
  }
  for (auto& [name, worker] : workers) worker->expect("ready");

  for (int i = 0; i < kPauses; ++i) {
    WorkerProcess& holder = *workers.at(await_reader(counter));
    holder.pause();
    std::this_thread::sleep_for(kSession * 2);
    holder.resume();
    std::this_thread::sleep_for(kSession / 2);
  }
  for (auto& [name, worker] : workers)
    if (!worker->finish()) throw std::runtime_error(name + " did not end well");

  Outcome outcome;
  std::istringstream(counter.ask("summary")) >> outcome.number >> outcome.accepted >> outcome.refused;
  outcome.lost = outcome.accepted - outcome.number;
  outcome.tokens_in_order =
      check_history(read_history_files({scratch.file("history")}), LockModel::fenced_mutex).accepted();
  return outcome;
}

void print(const char* name, const Outcome& outcome) {
  std::cout << name << ": " << kPauses << " pauses, " << outcome.accepted << " writes accepted, the counter says "
            << outcome.number << ": " << outcome.lost << " updates lost, " << outcome.refused
            << " stale writes refused; tokens of accepted writes "
            << (outcome.tokens_in_order ? "never went back" : "WENT BACK") << std::endl;
}

}  // namespace

int main() {
  try {
    const TestServer server;
    const Outcome open = experiment(server.address(), false);
    print("without a gate", open);
    const Outcome gated = experiment(server.address(), true);
    print("with FencingGate", gated);
    const bool shown = open.lost > 0 && !open.tokens_in_order && gated.lost == 0 && gated.tokens_in_order &&
                       gated.refused > 0 && gated.accepted > 0;
    std::cout << (shown ? "fencing: as promised" : "fencing: NOT AS PROMISED") << std::endl;
    return shown ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "fencing_run: " << error.what() << '\n';
    return 1;
  }
}
