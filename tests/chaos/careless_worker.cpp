// SPDX-License-Identifier: Apache-2.0
//
// Adds one to the counter, again and again, each time under the lock: reads, thinks, writes. It never looks whether its
// hold is still valid. Ends with its standard input.
#include <atomic>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>

#include "tests/chaos/counter_client.h"
#include "zkrecipes/connection.h"
#include "zkrecipes/fair_mutex.h"

int main(int argc, char** argv) {
  using namespace zkrecipes;
  if (argc != 5) {
    std::cerr << "usage: " << argv[0] << " SERVERS SESSION_TIMEOUT_MS COUNTER_PORT NAME\n";
    return 2;
  }
  try {
    ConnectionOptions options;
    options.servers = argv[1];
    options.session_timeout = std::chrono::milliseconds(std::stoi(argv[2]));
    const zkrecipes::testing::CounterClient counter(std::stoi(argv[3]));
    const std::string name = argv[4];
    Connection connection(options);
    FairMutex mutex(connection, "/counter");
    std::atomic<bool> stopping{false};
    std::thread worker([&] {
      while (!stopping) {
        const auto hold = mutex.try_acquire_for(std::chrono::seconds(1));
        if (!hold) continue;
        const std::string signature = name + " " + hold->token().to_string();
        const std::string number = counter.ask("read " + signature);
        if (number == "refused") continue;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        counter.ask("write " + signature + " " + std::to_string(std::stol(number) + 1));
      }
    });
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
    }
    stopping = true;
    worker.join();
    return 0;
  } catch (const std::exception& error) {
    std::cout << "error " << error.what() << std::endl;
    return 1;
  }
}
