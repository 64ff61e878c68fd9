// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include <zkrecipes/fair_mutex.h>

#include "examples/support/crew.h"
#include "examples/support/program.h"
#include "examples/support/say.h"

int main(int argc, char** argv) {
  examples::Program program("fair_mutex",
                            "Several workers, each with a connection of its own as if it were a process of its own,\n"
                            "add to a number that nothing but a FairMutex guards.");
  int workers = 4;
  int rounds = 3;
  int work = 20;
  program.options().number("workers", &workers, 1, 100, "how many contend");
  program.options().number("rounds", &rounds, 1, 1000, "how often each takes the lock");
  program.options().number("work", &work, 0, 10'000, "milliseconds of work under the lock");

  return program.run(argc, argv, [&] {
    int number = 0;  // read, then slowly written back: without the lock, additions would be lost
    std::vector<zkrecipes::FencingToken> order;
    examples::Crew crew;
    for (int i = 1; i <= workers; ++i)
      crew.start([&, name = "worker " + std::to_string(i)] {
        const auto connection = program.connect(name);
        zkrecipes::FairMutex mutex(*connection, "/zkrecipes-examples/fair_mutex");
        for (int round = 0; round < rounds; ++round) {
          const std::lock_guard guard(mutex);
          const int before = number;
          std::this_thread::sleep_for(std::chrono::milliseconds(work));
          number = before + 1;
          order.push_back(mutex.fencing_token());
          examples::say(
              name, "has the lock, token " + order.back().to_string() + ", number is now " + std::to_string(number));
        }
      });
    crew.join();
    const bool in_order = std::is_sorted(order.begin(), order.end());
    std::cout << "number: " << number << " of " << workers * rounds
              << ", served in order of arrival: " << (in_order ? "yes" : "no") << std::endl;
  });
}
