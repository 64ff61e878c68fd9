// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/session.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tools/zklock/duration.h"
#include "tools/zklock/exit_codes.h"
#include "tools/zklock/say.h"

namespace zklock {
namespace {

[[noreturn]] void throw_unreachable(const std::string& servers, std::chrono::milliseconds waited) {
  throw Failure(kUnreachable, "no ZooKeeper server answered at " + servers + " within " + to_text(waited) +
                                  "; are the addresses right, and do the servers run? (zklock doctor)");
}

}  // namespace

Session::Session(zkrecipes::ConnectionOptions options) try
    : servers_(options.servers),
      timeout_(options.session_timeout),
      connection_(std::move(options)),
      states_(connection_.on_state_change([this](zkrecipes::ConnectionState) { wakeup_.notify(); })) {
} catch (const std::invalid_argument& error) {
  throw Failure(kUsage, error.what());
}

void Session::connect(const Signals& signals, Clock::time_point deadline) {
  const auto began = Clock::now();
  const auto end = std::min(deadline, began + timeout_);
  bool said = false;
  // Throws when it will never be connected.
  while (!connection_.wait_until_connected(std::chrono::milliseconds(0))) {
    const auto now = Clock::now();
    if (now >= end) throw_unreachable(servers_, std::chrono::ceil<std::chrono::milliseconds>(end - began));
    const auto patience = began + std::chrono::seconds(3);
    if (!said && now >= patience) {
      say("waiting for a connection to " + servers_);
      said = true;
    }
    wait_readable({signals.get(), wakeup_.get()}, said ? end : std::min(end, patience));
    wakeup_.clear();
    if (const auto signal = signals.next_that_ends()) throw Interrupted{*signal};
  }
}

void Session::connect() {
  if (!connection_.wait_until_connected(timeout_)) throw_unreachable(servers_, timeout_);
}

}  // namespace zklock
