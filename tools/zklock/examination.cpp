// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/examination.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <random>
#include <zkrecipes/zkrecipes.h>

#include "tools/zklock/duration.h"
#include "tools/zklock/session.h"
#include "tools/zklock/text.h"

namespace zklock {
namespace {

using std::chrono::milliseconds;
using Ms = std::chrono::duration<double, std::milli>;

constexpr int kRounds = 20;

Latency measure(const std::function<void()>& action) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto began = Clock::now();
    action();
    times.push_back(Ms(Clock::now() - began).count());
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2], times.back()};
}

std::string temporary_path(const std::string& where) {
  std::random_device random;
  const std::string name = "zklock-doctor-" + std::to_string(random()) + std::to_string(random());
  return where == "/" ? "/" + name : where + "/" + name;
}

class Examination {
 public:
  Examination(const zkrecipes::ConnectionOptions& options, const std::string& where)
      : options_(options), path_(temporary_path(where)) {}

  Findings run() {
    ask_servers();
    found_.asked = options_.session_timeout;
    if (connect()) {
      attempt("read", [this] { found_.reads = measure([this] { look(); }); });
      attempt("lock", [this] { found_.locks = measure([this] { lock_and_unlock(); }); });
      attempt("lock", [this] { compare_clocks(); });
      attempt("container", [this] { try_container(); });
      found_.smallest_timeout = negotiated_for(milliseconds(200));
      found_.largest_timeout = negotiated_for(std::chrono::hours(24));
    }
    judge();
    return std::move(found_);
  }

 private:
  void ask_servers() {
    std::vector<std::future<ServerStatus>> answers;
    for (const std::string& each : server_addresses(options_.servers))
      answers.push_back(std::async(std::launch::async, [each] { return ask_server(each, milliseconds(2'000)); }));
    for (auto& each : answers) found_.servers.push_back(each.get());
  }

  bool connect() {
    const auto began = Clock::now();
    session_.emplace(options_);
    try {
      session_->connect();
    } catch (const std::exception& error) {
      found_.problems.emplace_back(error.what());
      return false;
    }
    found_.connected = true;
    found_.connect_ms = Ms(Clock::now() - began).count();
    found_.session = session_text(session_->connection().session_id());
    found_.negotiated = session_->connection().session_timeout();
    return true;
  }

  void attempt(const std::string& what, const std::function<void()>& action) {
    try {
      action();
    } catch (const zkrecipes::Error& error) {
      const std::string problem = what + ": " + error.what();
      if (found_.problems.empty() || found_.problems.back() != problem) found_.problems.push_back(problem);
    }
  }

  void look() { zkrecipes::holder(session_->connection(), path_, session_->patience()); }

  zkrecipes::Hold lock() {
    zkrecipes::SimpleLock lock(session_->connection(), path_);
    return lock.try_acquire_until(session_->patience()).value();
  }
  void lock_and_unlock() { lock().release(); }

  /// The node of a lock has the time at which the leader made it.
  void compare_clocks() {
    const auto began = std::chrono::system_clock::now();
    const zkrecipes::Hold hold = lock();
    const Ms took = std::chrono::system_clock::now() - began;
    if (const auto shown = zkrecipes::holder(session_->connection(), path_, session_->patience())) {
      found_.clock_ahead_ms = Ms(shown->since - began).count() - took.count() / 2;
      found_.clock_error_ms = took.count() / 2 + 1;
    }
  }

  /// A fair lock makes its path as a container.
  void try_container() {
    try {
      zkrecipes::FairMutex mutex(session_->connection(), path_);
      mutex.try_acquire_until(session_->patience()).value().release();
      found_.containers = true;
    } catch (const zkrecipes::Error& error) {
      if (error.code() != zkrecipes::ErrorCode::unsupported) throw;
      found_.containers = false;
      return;
    }
    zkrecipes::remove_empty_lock(session_->connection(), path_, session_->patience());
  }

  /// By asking for too little or too much; the server grants what is nearest.
  std::optional<milliseconds> negotiated_for(milliseconds asked) const {
    zkrecipes::ConnectionOptions options = options_;
    options.session_timeout = asked;
    options.log = [](zkrecipes::LogSeverity, const std::string&) {};
    zkrecipes::Connection connection(options);
    if (!connection.wait_until_connected(std::min(options_.session_timeout, milliseconds(5'000)))) return std::nullopt;
    return connection.session_timeout();
  }

  void judge() {
    judge_servers();
    if (!found_.connected) return;
    auto& warnings = found_.warnings;
    if (found_.negotiated != found_.asked)
      warnings.push_back("the servers gave a session timeout of " + to_text(found_.negotiated) + " instead of " +
                         to_text(found_.asked));
    // The smallest timeout is two ticks, unless the servers are configured otherwise.
    if (found_.smallest_timeout && found_.negotiated * 2 < *found_.smallest_timeout * 3)
      warnings.push_back("the session timeout of " + to_text(found_.negotiated) +
                         " is less than three ticks of the servers (" + to_text(*found_.smallest_timeout * 3 / 2) +
                         "); a short pause loses locks");
    if (found_.locks && found_.locks->max * 10 > Ms(found_.negotiated).count())
      warnings.push_back("a lock and unlock took up to " + to_text(milliseconds(std::lround(found_.locks->max))) +
                         ", more than a tenth of the session timeout");
    if (found_.clock_ahead_ms && std::abs(*found_.clock_ahead_ms) > 1'000 + found_.clock_error_ms)
      warnings.push_back("the clock of the servers is " +
                         to_text(milliseconds(std::lround(std::abs(*found_.clock_ahead_ms)))) +
                         (*found_.clock_ahead_ms > 0 ? " ahead of" : " behind") +
                         " the one here; locks are not affected, but times in listings are");
    if (found_.containers == false)
      warnings.emplace_back("the servers have no container nodes (ZooKeeper 3.5 has): lock paths are not removed");
  }

  void judge_servers() {
    std::size_t answering = 0;
    std::size_t leaders = 0;
    for (const ServerStatus& each : found_.servers) {
      if (each.answers) ++answering;
      if (each.mode == "leader") ++leaders;
      if (!each.trouble.empty()) found_.warnings.push_back("server " + each.address + ": " + each.trouble);
      if (!each.version.empty() && each.version != found_.servers.front().version &&
          !found_.servers.front().version.empty())
        found_.warnings.push_back("server " + each.address + " has another version than " +
                                  found_.servers.front().address);
    }
    const std::size_t count = found_.servers.size();
    if (count == 1) found_.warnings.emplace_back("only one server is listed: if it fails, all locks are lost");
    if (count > 1 && answering == count && leaders != 1)
      found_.warnings.push_back("the list has " + std::to_string(leaders) +
                                " leaders instead of one: does it name all servers of one ensemble?");
  }

  const zkrecipes::ConnectionOptions options_;
  const std::string path_;
  std::optional<Session> session_;
  Findings found_;
};

}  // namespace

Findings examine(const zkrecipes::ConnectionOptions& options, const std::string& where) {
  return Examination(options, where).run();
}

}  // namespace zklock
