// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <zkrecipes/connection.h>

#include "examples/support/program.h"
#include "examples/support/relay.h"
#include "examples/support/say.h"

namespace {

/// The states that have been reported so far.
class States {
 public:
  void add(zkrecipes::ConnectionState state) {
    examples::say("state", to_string(state));
    const std::lock_guard guard(mutex_);
    seen_.push_back(to_string(state));
    changed_.notify_all();
  }
  void await(std::size_t count) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::minutes(2), [&] { return seen_.size() >= count; }))
      throw std::runtime_error("the connection did not change its state in time");
  }
  std::string text() {
    const std::lock_guard guard(mutex_);
    std::string result;
    for (const std::string& state : seen_) result += (result.empty() ? "" : ", ") + state;
    return result;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> seen_;  // guarded by mutex_
};

std::string session_of(const zkrecipes::Connection& connection) {
  std::ostringstream text;
  text << "session 0x" << std::hex << connection.session_id();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  examples::Program program("connection_states",
                            "The line to the server is cut twice: for a moment, which the session survives, and for\n"
                            "longer than the session lives, after which the connection makes a new one by itself.");
  int session_timeout = 2000;
  program.options().number("session-timeout", &session_timeout, 500, 60'000,
                           "milliseconds; the server may have a larger minimum");

  return program.run(argc, argv, [&] {
    examples::Relay line(program.servers());
    zkrecipes::ConnectionOptions options;
    options.servers = line.address();
    options.session_timeout = std::chrono::milliseconds(session_timeout);
    States states;
    const auto connection = program.connect("demo", options);
    const auto subscription = connection->on_state_change([&](zkrecipes::ConnectionState s) { states.add(s); });
    examples::say("", "connected, " + session_of(*connection));

    examples::say("", "the line is cut for a moment");
    line.cut();
    states.await(1);  // suspended
    line.mend();
    states.await(2);  // connected
    examples::say("", "still " + session_of(*connection) + ": nothing is lost");

    examples::say("", "the line is cut for longer than the session lives");
    line.cut();
    states.await(4);  // suspended, lost
    line.mend();
    states.await(5);  // connected
    examples::say("", "now " + session_of(*connection) + ": locks of the old one are lost");

    connection->close();
    states.await(6);
    std::cout << "states: " << states.text() << std::endl;
  });
}
