// SPDX-License-Identifier: Apache-2.0
// A program that holds a lock, with its logging set up in one of several ways (connection_log_process_test.cpp). It
// says "held NODE TOKEN" when it has the lock, and ends when its standard input does.
#include <glog/logging.h>
#include <iostream>

#include "zkrecipes/zkrecipes.h"

int main(int argc, char** argv) {
  const std::string way = argc == 3 ? argv[2] : "";
  if (way != "none" && way != "glog" && way != "glog-details" && way != "sink") {
    std::cerr << "usage: logging_client SERVERS none|glog|glog-details|sink\n";
    return 2;
  }
  zkrecipes::ConnectionOptions options;
  options.servers = argv[1];
  if (way == "glog-details") FLAGS_v = 1;
  if (way == "glog" || way == "glog-details") {
    FLAGS_logtostderr = true;
    google::InitGoogleLogging(argv[0]);
  }
  if (way == "sink")
    options.log = [](zkrecipes::LogSeverity severity, const std::string& line) {
      std::cout << std::string("sink ") + zkrecipes::to_string(severity) + ": " + line + "\n" << std::flush;
    };
  zkrecipes::Connection connection(options);
  zkrecipes::FairMutex mutex(connection, "/lock");
  const zkrecipes::Hold hold = mutex.acquire();
  std::cout << "held " + hold.node() + " " + hold.token().to_string() + "\n" << std::flush;
  std::string end;
  std::getline(std::cin, end);
  return 0;
}
