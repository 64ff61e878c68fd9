// SPDX-License-Identifier: Apache-2.0
#include <boost/program_options.hpp>
#include <chrono>
#include <exception>
#include <iostream>
#include <string>

#include "testkit/command_line.h"
#include "testkit/endpoint.h"
#include "testkit/tcp_relay.h"

namespace po = boost::program_options;

int main(int argc, char** argv) {
  std::string server;
  double delay_ms = 0;
  po::options_description description(
      "Forwards TCP connections with a delay. Prints its address; answers each line of input with the bytes that have\n"
      "passed so far, to the server and to the clients; ends with its input.\n\nOptions");
  auto add = description.add_options();
  add("server", po::value(&server)->required(), "where to forward to, as ADDRESS:PORT");
  add("delay-ms", po::value(&delay_ms)->default_value(1), "each way");
  try {
    if (!testkit::parse_command_line(argc, argv, description)) return 0;

    testkit::TcpRelay relay({testkit::parse_endpoint(server)});
    relay.delay(std::chrono::microseconds(static_cast<long>(delay_ms * 1000)));
    std::cout << relay.address() << std::endl;
    for (std::string line; std::getline(std::cin, line);)
      std::cout << relay.traffic().to_server << " " << relay.traffic().to_client << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "delay_proxy: " << error.what() << "\n";
    return 1;
  }
}
