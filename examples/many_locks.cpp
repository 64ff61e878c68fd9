// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>
#include <zkrecipes/fair_mutex.h>

#include "examples/support/program.h"
#include "examples/support/say.h"

namespace {

int threads_of_this_process() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "Threads:") {
      int count = 0;
      status >> count;
      return count;
    }
  return 0;
}

using Mutexes = std::vector<std::unique_ptr<zkrecipes::FairMutex>>;

Mutexes make_mutexes(zkrecipes::Connection& connection, int count) {
  Mutexes mutexes;
  for (int i = 0; i < count; ++i)
    mutexes.push_back(std::make_unique<zkrecipes::FairMutex>(
        connection, "/zkrecipes-examples/many_locks/account-" + std::to_string(i)));
  return mutexes;
}

std::vector<zkrecipes::PendingHold> ask_for_all(const Mutexes& mutexes) {
  std::vector<zkrecipes::PendingHold> pending;
  for (const auto& mutex : mutexes) pending.push_back(mutex->acquire_async());
  return pending;
}

std::vector<zkrecipes::Hold> take_all(std::vector<zkrecipes::PendingHold>& pending) {
  std::vector<zkrecipes::Hold> holds;
  for (auto& one : pending) holds.push_back(one.get());
  return holds;
}

}  // namespace

int main(int argc, char** argv) {
  examples::Program program("many_locks",
                            "One thread waits for thousands of locks at once: a place in line needs no thread.");
  int count = 2000;
  program.options().number("locks", &count, 1, 100'000, "how many");

  return program.run(argc, argv, [&] {
    const auto owner = program.connect("owner");
    const auto waiter = program.connect("waiter");
    const Mutexes owned = make_mutexes(*owner, count);
    const Mutexes wanted = make_mutexes(*waiter, count);
    const int threads = threads_of_this_process();

    auto pending = ask_for_all(owned);
    std::vector<zkrecipes::Hold> owners_holds = take_all(pending);
    examples::say("owner", "holds " + std::to_string(owners_holds.size()) + " locks");

    auto waiting = ask_for_all(wanted);
    examples::say("waiter", "waits for all of them, from one thread");
    if (waiting.front().ready()) throw std::runtime_error("a lock was granted twice");
    const int more_threads = threads_of_this_process() - threads;

    const auto start = std::chrono::steady_clock::now();
    owners_holds.clear();
    examples::say("owner", "releases them all");
    const std::vector<zkrecipes::Hold> holds = take_all(waiting);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    examples::say("waiter", "has them all; handing over took " + std::to_string(seconds.count()) + " s");
    std::cout << holds.size() << " locks, " << more_threads << " more threads while waiting" << std::endl;
  });
}
