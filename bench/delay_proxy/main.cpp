// SPDX-License-Identifier: Apache-2.0
#include <boost/program_options.hpp>
#include <iostream>
#include <string>
#include <thread>

#include "bench/delay_proxy/proxy.h"

namespace {

namespace po = boost::program_options;

boost::asio::ip::tcp::endpoint endpoint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) throw std::invalid_argument("--server needs ADDRESS:PORT, not '" + text + "'");
  const int port = std::stoi(text.substr(colon + 1));
  return {boost::asio::ip::make_address(text.substr(0, colon)), static_cast<std::uint16_t>(port)};
}

}  // namespace

int main(int argc, char** argv) {
  std::string server;
  double delay_ms = 0;
  po::options_description description(
      "Forwards TCP connections with a delay. Prints its address; answers each line of input with the bytes that have\n"
      "passed so far, to the server and to the clients; ends with its input.\n\nOptions");
  auto add = description.add_options();
  add("help", "this text");
  add("server", po::value(&server)->required(), "where to forward to, as ADDRESS:PORT");
  add("delay-ms", po::value(&delay_ms)->default_value(1), "each way");
  try {
    po::variables_map values;
    po::store(po::parse_command_line(argc, argv, description), values);
    if (values.count("help") != 0) {
      std::cout << description;
      return 0;
    }
    po::notify(values);

    boost::asio::io_context io(1);
    const std::chrono::microseconds delay(static_cast<long>(delay_ms * 1000));
    const bench::DelayProxy proxy(io, endpoint(server), delay);
    std::cout << "127.0.0.1:" << proxy.port() << std::endl;
    std::thread forwarding([&io] { io.run(); });
    for (std::string line; std::getline(std::cin, line);)
      std::cout << proxy.traffic().to_server << " " << proxy.traffic().to_client << std::endl;
    io.stop();
    forwarding.join();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "delay_proxy: " << error.what() << "\n";
    return 1;
  }
}
