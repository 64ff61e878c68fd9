// SPDX-License-Identifier: Apache-2.0
#include "examples/support/program.h"

#include <cstdlib>
#include <glog/logging.h>
#include <iostream>
#include <utility>

#include "examples/support/interrupt.h"

namespace examples {
namespace {

/// The examples tell themselves what happens, lost connections included. GLOG_minloglevel=0 shows the log as well.
void quiet_the_log() {
  if (std::getenv("GLOG_minloglevel") == nullptr) FLAGS_minloglevel = google::GLOG_ERROR;
}

}  // namespace

Program::Program(std::string name, std::string purpose) : options_(std::move(name), std::move(purpose)) {
  options_.text("servers", &given_servers_,
                "ZooKeeper servers as HOST:PORT,HOST:PORT/CHROOT; without it, one is started for the occasion");
  options_.number("timeout", &timeout_seconds_, 1, 600, "seconds to wait for a server");
}

int Program::run(int argc, const char* const* argv, const std::function<void()>& body) {
  try {
    if (!options_.parse(argc, argv)) return 0;
    quiet_the_log();
    clean_up_on_interrupt();
    body();
    std::cout.flush();
    embedded_.reset();
    return 0;
  } catch (const UsageError& error) {
    std::cerr << options_.name() << ": " << error.what() << " (see --help)" << std::endl;
    return 2;
  } catch (const std::exception& error) {
    yield_to_interrupt();
    std::cerr << options_.name() << ": " << error.what() << std::endl;
    return 1;
  }
}

const std::string& Program::servers() {
  const std::lock_guard guard(mutex_);
  if (servers_.empty()) servers_ = given_servers_;
  if (servers_.empty()) {
    embedded_ = std::make_unique<EmbeddedServer>();
    servers_ = embedded_->address();
  }
  return servers_;
}

std::shared_ptr<zkrecipes::Connection> Program::connect(const std::string& identity,
                                                        zkrecipes::ConnectionOptions options) {
  if (options.servers.empty()) options.servers = servers();
  options.identity = identity;
  auto connection = std::make_shared<zkrecipes::Connection>(std::move(options));
  close_on_interrupt(connection);
  await(*connection);
  return connection;
}

void Program::await(zkrecipes::Connection& connection) {
  if (connection.wait_until_connected(std::chrono::seconds(timeout_seconds_))) return;
  throw std::runtime_error("no ZooKeeper server answered at " + servers() + " within " +
                           std::to_string(timeout_seconds_) +
                           " s.\nCheck the address and that the server runs, wait longer with --timeout, or leave out "
                           "--servers to have one started.");
}

}  // namespace examples
