// SPDX-License-Identifier: Apache-2.0
#include "testkit/test_server_process.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <stdexcept>

namespace testkit {
namespace {

constexpr std::chrono::seconds kCommandTimeout{60};
constexpr std::chrono::seconds kExitTimeout{5};

std::vector<std::string> launch_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{test_server_launcher()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

ChildOptions child_options() {
  ChildOptions options;
  options.end_signal = SIGTERM;
  options.patience = kExitTimeout;
  return options;
}

}  // namespace

std::string test_server_launcher() {
  const char* const chosen = std::getenv("ZKRECIPES_TEST_SERVER_LAUNCHER");
  return chosen != nullptr && *chosen != '\0' ? chosen : ZKRECIPES_TEST_SERVER_LAUNCHER;
}

TestServerProcess& TestServerProcess::instance() {
  static TestServerProcess process;
  return process;
}

TestServerProcess::TestServerProcess(const std::vector<std::string>& arguments)
    : process_(launch_command(arguments), child_options()) {}

void TestServerProcess::pause() {
  const std::lock_guard lock(mutex_);
  if (!process_.pause()) {
    broken_ = "the test server has ended";
    throw std::runtime_error(broken_);
  }
  paused_ = true;
}

void TestServerProcess::resume() {
  const std::lock_guard lock(mutex_);
  process_.resume();
  paused_ = false;
}

std::string TestServerProcess::command(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (paused_) throw std::logic_error("the test server is paused and cannot carry out: " + line);
  if (!broken_.empty()) throw std::runtime_error(broken_ + "; not done: " + line);
  std::string reply;
  try {
    reply = exchange(line);
  } catch (const std::runtime_error& error) {
    // A late answer would be taken for that of the next command.
    broken_ = std::string(error.what()) + ", while it should: " + line;
    throw std::runtime_error(broken_);
  }
  if (reply == "ok") return {};
  if (reply.rfind("ok ", 0) == 0) return reply.substr(3);
  throw std::runtime_error("test server: " + line + ": " + reply);
}

std::string TestServerProcess::exchange(const std::string& line) {
  process_.write(line + "\n");
  const std::optional<std::string> reply = process_.read_line(kCommandTimeout);
  if (!reply) throw std::runtime_error("the test server has ended");
  return *reply;
}

}  // namespace testkit
