// SPDX-License-Identifier: Apache-2.0
#include "testkit/endpoint.h"

#include <boost/asio/io_context.hpp>
#include <charconv>
#include <stdexcept>
#include <system_error>

namespace testkit {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

tcp::endpoint parse_endpoint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    error_code failed;
    const auto address = asio::ip::make_address(text.substr(0, colon), failed);
    unsigned short port = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    if (!failed && parsed.ec == std::errc() && parsed.ptr == end && port != 0) return {address, port};
  }
  throw std::invalid_argument("not a numeric address:port: \"" + text + "\"");
}

std::string to_string(const tcp::endpoint& endpoint) {
  return endpoint.address().to_string() + ":" + std::to_string(endpoint.port());
}

std::vector<tcp::endpoint> resolve(const std::string& host, const std::string& port) {
  asio::io_context io;
  error_code unknown;
  std::vector<tcp::endpoint> endpoints;
  for (const auto& found : tcp::resolver(io).resolve(host, port, unknown)) endpoints.push_back(found.endpoint());
  return endpoints;
}

}  // namespace testkit
