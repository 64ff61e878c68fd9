// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <iostream>
#include <thread>
#include <zkrecipes/simple_lock.h>

#include "examples/support/crew.h"
#include "examples/support/program.h"
#include "examples/support/say.h"

int main(int argc, char** argv) {
  examples::Program program("simple_lock",
                            "One program has a SimpleLock, another tries to get it: at once, for a while, and for as\n"
                            "long as it takes. Right for locks that are hardly ever contended; see herd_effect.");
  int hold_for = 300;
  program.options().number("hold", &hold_for, 200, 60'000, "milliseconds that the first one holds the lock");

  return program.run(argc, argv, [&] {
    const auto first = program.connect("first");
    const auto second = program.connect("second");
    zkrecipes::SimpleLock first_lock(*first, "/zkrecipes-examples/simple_lock");
    zkrecipes::SimpleLock second_lock(*second, "/zkrecipes-examples/simple_lock");

    zkrecipes::Hold held = first_lock.acquire();
    examples::say("first", "has the lock: node " + held.node() + ", token " + held.token().to_string());

    if (!second_lock.try_acquire()) examples::say("second", "try_acquire(): not free");
    if (!second_lock.try_acquire_for(std::chrono::milliseconds(100)))
      examples::say("second", "try_acquire_for(100 ms): not free in time");

    examples::Crew crew;
    crew.start([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(hold_for));
      examples::say("first", "releases");
      held.release();
    });
    examples::say("second", "acquire(): waits as long as it takes");
    const zkrecipes::Hold next = second_lock.acquire();
    crew.join();
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(next.cost().waited);
    examples::say("second", "has the lock, token " + next.token().to_string() + ", after " +
                                std::to_string(waited.count()) + " ms and " + std::to_string(next.cost().wakeups) +
                                " wake-up");
    std::cout << "the later hold has the larger token: " << (next.token() > held.token() ? "yes" : "no") << std::endl;
  });
}
