// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <iostream>
#include <mutex>
#include <string>
#include <zkrecipes/recursive_fair_mutex.h>

#include "examples/support/program.h"
#include "examples/support/say.h"

namespace {

/// Locks for itself, and does not care whether its caller has locked, too.
void visit(zkrecipes::RecursiveFairMutex& mutex, int levels) {
  const std::lock_guard guard(mutex);
  examples::say("level " + std::to_string(mutex.depth()), "token " + mutex.fencing_token().to_string());
  if (levels > 1) visit(mutex, levels - 1);
}

}  // namespace

int main(int argc, char** argv) {
  examples::Program program("recursive_mutex",
                            "A function that locks calls itself: the owner may lock again. There is one node and one\n"
                            "token from the first lock() to the last unlock().");
  int levels = 3;
  program.options().number("levels", &levels, 1, 1000, "how deep to go");

  return program.run(argc, argv, [&] {
    const auto connection = program.connect("visitor");
    const auto other = program.connect("other");
    zkrecipes::RecursiveFairMutex mutex(*connection, "/zkrecipes-examples/recursive_mutex");
    zkrecipes::RecursiveFairMutex same_mutex(*other, "/zkrecipes-examples/recursive_mutex");
    {
      const std::lock_guard guard(mutex);
      visit(mutex, levels);
      examples::say("other", std::string("try_lock(): ") + (same_mutex.try_lock() ? "got it?!" : "not free"));
    }
    const bool is_free = same_mutex.try_lock_for(std::chrono::seconds(10));
    std::cout << "after the last unlock() the other one gets it: " << (is_free ? "yes" : "no") << std::endl;
    if (is_free) same_mutex.unlock();
  });
}
