// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <string>

#include "examples/lock_server/service.h"

namespace examples {

/// Accepts clients and serves them, until the acceptor is closed.
using Serve = std::function<void(boost::asio::ip::tcp::acceptor& acceptor, Service& service)>;

/// main() of both servers: options, the clients, one thread for all of it, and the report.
int run_lock_server(const std::string& name, const std::string& purpose, int argc, const char* const* argv,
                    const Serve& serve);

}  // namespace examples
