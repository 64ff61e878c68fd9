// SPDX-License-Identifier: Apache-2.0
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <vector>
#include <zkrecipes/contenders.h>
#include <zkrecipes/fair_mutex.h>

#include "examples/support/program.h"

int main(int argc, char** argv) {
  examples::Program program(
      "contenders",
      "Lists the holder of a lock and the waiters, in order, for people who ask why nothing moves.\n"
      "With --path and --servers it looks at a lock of yours instead.");
  std::string path;
  program.options().text("path", &path, "a lock path to look at");

  return program.run(argc, argv, [&] {
    const auto observer = program.connect("observer");
    std::vector<std::shared_ptr<zkrecipes::Connection>> connections;
    std::vector<std::unique_ptr<zkrecipes::FairMutex>> mutexes;
    std::vector<zkrecipes::PendingHold> queue;
    if (path.empty()) {
      path = "/zkrecipes-examples/contenders";
      for (const char* name : {"billing@host-a", "report@host-b", "billing@host-c", "cleanup@host-d"}) {
        connections.push_back(program.connect(name));
        mutexes.push_back(std::make_unique<zkrecipes::FairMutex>(*connections.back(), path));
        queue.push_back(mutexes.back()->acquire_async());
        while (contenders(*observer, path).size() < queue.size()) {
        }
      }
    }

    const auto found = contenders(*observer, path);
    std::cout << "lock " << path << '\n'
              << std::left << std::setw(8) << "" << std::setw(20) << "who"
              << "token\n";
    int waiting = 0;
    for (const zkrecipes::Contender& contender : found) {
      waiting += contender.holds ? 0 : 1;
      std::cout << std::setw(8) << (contender.holds ? "holds" : "waits") << std::setw(20) << contender.identity
                << contender.token << '\n';
    }
    std::cout << found.size() - static_cast<std::size_t>(waiting) << " holds, " << waiting << " wait" << std::endl;
  });
}
