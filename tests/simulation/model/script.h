// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connection/handle.h"

namespace zkrecipes::simulation {

/// What a few clients do one after the other. Runs on the model and on real servers alike.
struct Script {
  struct Step {
    enum class Kind {
      requests,  ///< sent at once, without waiting for answers in between
      close,     ///< the client ends its session
      open,      ///< the client makes a session
      move,      ///< the client takes its session to `server`; its former handle is then asked for a write
    };
    Kind kind = Kind::requests;
    int client = 0;
    std::vector<detail::Request> requests;
    int server = 0;
  };

  std::string name;
  std::vector<Step> steps;
  bool disconnects = false;  ///< on purpose

  std::size_t requests() const {
    std::size_t result = 0;
    for (const Step& step : steps) result += step.requests.size();
    return result;
  }
};

/// Written by hand: each is about one thing. All paths are below `root`, which exists when a script begins.
std::vector<Script> written_scripts(const std::string& root, int servers);
/// Anything, by two clients.
Script random_script(const std::string& root, std::uint64_t seed, int servers);

/// Of server `server` of a host, which is to allow no longer sessions. Clients ask for more than the least of them.
constexpr std::chrono::milliseconds longest_session(int server) {
  return std::chrono::milliseconds(server == 1 ? 2'500 : 4'000);
}

/// Where scripts run.
class ScriptHost {
 public:
  virtual ~ScriptHost() = default;
  virtual int servers() const = 0;
  virtual std::unique_ptr<detail::Handle> open(int client, int server, const detail::HandleSettings& settings,
                                               const std::weak_ptr<detail::HandleListener>& listener) = 0;
  /// Runs on until the condition holds. False if it does not in a generous time.
  virtual bool wait(const std::function<bool()>& condition) = 0;
  /// Until a handle that was closed has closed its session.
  virtual void settle() = 0;
};

/// Everything that was reported to each client, a line each, in order. Zxids count from that of the root's creation,
/// sessions are named by their client, children are sorted, and times are left out.
using ScriptOutcome = std::vector<std::vector<std::string>>;

/// Runs scripts with `clients` clients, which live on from one script to the next.
class ScriptRunner {
 public:
  ScriptRunner(ScriptHost& host, int clients);
  ~ScriptRunner();
  ScriptRunner(const ScriptRunner&) = delete;
  ScriptRunner& operator=(const ScriptRunner&) = delete;

  ScriptOutcome run(const Script& script, const std::string& root);
  /// New sessions for all clients.
  void start_afresh();

 private:
  class Client;
  void open(Client& client, int server);
  void close(Client& client);
  void move(Client& client, int server);
  void run(const Script::Step& step);
  /// Until everything that has happened so far has been reported to everybody.
  void barrier(const std::string& root);
  void await(Client& client, const char* what, const std::function<bool()>& condition);
  void await_answers(Client& client);

  ScriptHost& host_;
  std::vector<std::shared_ptr<Client>> clients_;
};

}  // namespace zkrecipes::simulation
