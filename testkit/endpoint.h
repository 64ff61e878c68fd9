// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <vector>

namespace testkit {

/// `text` is "address:port" with a numeric address. Throws std::invalid_argument if it is not.
boost::asio::ip::tcp::endpoint parse_endpoint(const std::string& text);

std::string to_string(const boost::asio::ip::tcp::endpoint& endpoint);

/// The addresses of a host, in the order in which to try them; empty if the name is unknown.
std::vector<boost::asio::ip::tcp::endpoint> resolve(const std::string& host, const std::string& port);

}  // namespace testkit
