// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <zkrecipes/semaphore.h>

#include "examples/support/crew.h"
#include "examples/support/program.h"
#include "examples/support/say.h"

int main(int argc, char** argv) {
  examples::Program program("semaphore", "More workers than permits: never more inside than there are permits.");
  int workers = 8;
  int permits = 3;
  program.options().number("workers", &workers, 1, 100, "how many want a permit");
  program.options().number("permits", &permits, 1, 100, "how many there are");

  return program.run(argc, argv, [&] {
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    examples::Crew crew;
    for (int i = 1; i <= workers; ++i)
      crew.start([&, name = "worker " + std::to_string(i)] {
        const auto connection = program.connect(name);
        zkrecipes::Semaphore semaphore(*connection, "/zkrecipes-examples/semaphore", permits);
        const zkrecipes::Hold permit = semaphore.acquire();
        const int now = ++inside;
        for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
        }
        examples::say(name, "has a permit; inside: " + std::to_string(now));
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        --inside;
      });
    crew.join();
    std::cout << "most at once: " << most << " of " << permits << " permits, " << workers << " workers served"
              << std::endl;
  });
}
