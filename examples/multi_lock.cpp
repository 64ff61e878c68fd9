// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <zkrecipes/fair_mutex.h>

#include "examples/support/crew.h"
#include "examples/support/program.h"
#include "examples/support/say.h"

int main(int argc, char** argv) {
  examples::Program program(
      "multi_lock",
      "Two clerks move money between two accounts, each account under its own lock, and name the\n"
      "locks in opposite order. std::scoped_lock takes both without deadlock.");
  int transfers = 5;
  program.options().number("transfers", &transfers, 1, 1000, "how many each clerk makes");

  return program.run(argc, argv, [&] {
    int alice = 100;
    int bob = 100;
    const auto clerk = [&](const std::string& name, bool alice_first, int amount) {
      const auto connection = program.connect(name);
      zkrecipes::FairMutex first(*connection, "/zkrecipes-examples/account-" + std::string(alice_first ? "a" : "b"));
      zkrecipes::FairMutex second(*connection, "/zkrecipes-examples/account-" + std::string(alice_first ? "b" : "a"));
      for (int i = 0; i < transfers; ++i) {
        const std::scoped_lock both(first, second);
        const int before = alice;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        alice = before - amount;
        bob += amount;
        examples::say(name,
                      "moves " + std::to_string(amount) + ": " + std::to_string(alice) + " and " + std::to_string(bob));
      }
    };
    examples::Crew crew;
    crew.start([&] { clerk("clerk 1", true, 10); });
    crew.start([&] { clerk("clerk 2", false, -7); });
    crew.join();
    std::cout << "no deadlock, nothing lost: " << alice << " + " << bob << " = " << alice + bob << std::endl;
    if (alice != 100 - 3 * transfers || alice + bob != 200) throw std::runtime_error("a transfer was lost");
  });
}
