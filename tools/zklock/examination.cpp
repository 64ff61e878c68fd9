// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/examination.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <random>
#include <set>
#include <system_error>
#include <zkrecipes/zkrecipes.h>

#include "tools/zklock/duration.h"
#include "tools/zklock/exit_codes.h"
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
      : options_(options), where_(where), path_(temporary_path(where)) {}

  Findings run() {
    ask_servers();
    found_.asked = options_.session_timeout;
    if (connect()) {
      if (find_where()) {
        attempt("read", [this] { found_.reads = measure([this] { look(); }); });
        attempt("lock", [this] { found_.locks = measure([this] { lock_and_unlock(); }); });
        attempt("lock", [this] { compare_clocks(); });
        attempt("container", [this] { try_container(); });
      }
      attempt("session timeout", [this] { found_.smallest_timeout = negotiated_for(milliseconds(200)); });
      attempt("session timeout", [this] { found_.largest_timeout = negotiated_for(std::chrono::hours(24)); });
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
    } catch (const zkrecipes::Error& error) {
      add_problem(code_for(error), error.what());
      return false;
    } catch (const Failure& failure) {
      add_problem(failure.code(), why_unreachable());
      return false;
    }
    found_.connected = true;
    found_.connect_ms = Ms(Clock::now() - began).count();
    found_.session = session_text(session_->connection().session_id());
    found_.negotiated = session_->connection().session_timeout();
    return true;
  }

  std::string why_unreachable() const {
    const std::size_t count = found_.servers.size();
    const auto answering = static_cast<std::size_t>(std::count_if(
        found_.servers.begin(), found_.servers.end(), [](const ServerStatus& each) { return each.answers; }));
    if (count > 1 && answering * 2 <= count)
      return "no quorum: " + std::to_string(answering) + " of " + std::to_string(count) +
             " servers answer, and more than half of an ensemble must run";
    return "no server has given a session within " + to_text(options_.session_timeout);
  }

  /// False if there is no node below which others could be made. The library would make the missing ones.
  bool find_where() {
    bool exists = false;
    const bool asked = attempt(
        "read", [&] { exists = zkrecipes::list_lock(session_->connection(), where_, session_->patience()).exists; });
    if (!asked || exists) return asked;
    const std::size_t chroot = options_.servers.find('/');
    if (where_ == "/" && chroot != std::string::npos)
      add_problem(kUnusablePath, "the chroot " + options_.servers.substr(chroot) +
                                     " does not exist: make it, or correct the list of servers");
    else
      add_problem(kUnusablePath, "there is no node " + where_ + " (--at), so nothing was tried below it");
    return false;
  }

  void add_problem(ExitCode status, const std::string& problem) {
    if (found_.problems.empty()) found_.status = status;
    found_.problems.push_back(problem);
  }

  /// False if it failed. What fails several times for the same reason is one problem.
  bool attempt(const std::string& what, const std::function<void()>& action) {
    try {
      action();
      return true;
    } catch (const zkrecipes::Error& error) {
      if (reasons_.insert(error.what()).second) add_problem(code_for(error), what + ": " + error.what());
    } catch (const std::system_error& error) {
      // No thread for another connection, for example.
      if (reasons_.insert(error.what()).second) add_problem(kFailure, what + ": " + error.what());
    }
    return false;
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
  std::optional<milliseconds> negotiated_for(milliseconds asked) {
    if (session_->connection().state() == zkrecipes::ConnectionState::closed) return std::nullopt;
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
    std::size_t known = 0;  // whose mode is known: all may forbid the question
    std::size_t leaders = 0;
    for (const ServerStatus& each : found_.servers) {
      if (!each.mode.empty()) ++known;
      if (each.mode == "leader") ++leaders;
      if (!each.trouble.empty()) found_.warnings.push_back("server " + each.address + ": " + each.trouble);
      if (!each.version.empty() && each.version != found_.servers.front().version &&
          !found_.servers.front().version.empty())
        found_.warnings.push_back("server " + each.address + " has another version than " +
                                  found_.servers.front().address);
    }
    const std::size_t count = found_.servers.size();
    if (count == 1) found_.warnings.emplace_back("only one server is listed: if it fails, all locks are lost");
    if (count > 1 && known == count && leaders != 1)
      found_.warnings.push_back("the list has " + std::to_string(leaders) +
                                " leaders instead of one: does it name all servers of one ensemble?");
  }

  const zkrecipes::ConnectionOptions options_;
  const std::string where_;
  const std::string path_;
  std::set<std::string> reasons_;  // why attempts have failed
  std::optional<Session> session_;
  Findings found_;
};

}  // namespace

Findings examine(const zkrecipes::ConnectionOptions& options, const std::string& where) {
  return Examination(options, where).run();
}

}  // namespace zklock
