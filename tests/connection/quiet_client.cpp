// SPDX-License-Identifier: Apache-2.0
// A program that has not set up its logging (connection_log_test.cpp): connects, acquires, releases and closes.
#include <chrono>
#include <iostream>

#include "zkrecipes/zkrecipes.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: quiet_client SERVERS\n";
    return 2;
  }
  zkrecipes::Connection connection(argv[1]);
  if (!connection.wait_until_connected(std::chrono::seconds(30))) return 1;
  zkrecipes::FairMutex mutex(connection, "/lock");
  zkrecipes::Hold hold = mutex.acquire();
  connection.set_servers(argv[1]);
  hold.release();
  connection.close();
  return 0;
}
