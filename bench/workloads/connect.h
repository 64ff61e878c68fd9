// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>
#include <zkrecipes/connection.h>

namespace bench {

/// Connected, or an exception.
std::unique_ptr<zkrecipes::Connection> connect(const std::string& server,
                                               std::shared_ptr<zkrecipes::Observer> observer = nullptr);
std::vector<std::unique_ptr<zkrecipes::Connection>> connect(const std::string& server, int count);

/// Returns when the server has answered all that was sent before on this connection.
void await_replies(zkrecipes::Connection& connection, const std::string& root);

}  // namespace bench
