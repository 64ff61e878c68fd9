// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/contender.h"
#include "tests/simulation/process.h"
#include "tests/simulation/simulated_locks.h"
#include "tests/simulation/stage.h"

namespace zkrecipes::simulation {

/// A program: a process with one or more connections, on each of which parts of it contend for locks. It also asks
/// other holders to give locks back, and replaces its connections now and then.
class ClientProcess {
 public:
  ClientProcess(Stage& stage, int number, double clock_rate);
  ~ClientProcess();  ///< kill()
  ClientProcess(const ClientProcess&) = delete;
  ClientProcess& operator=(const ClientProcess&) = delete;

  int number() const { return process_.number(); }
  Process& process() { return process_; }
  bool is_alive() const { return process_.is_alive(); }

  void start();
  void pause();
  void resume();
  void kill();
  /// One of its connections is given another list of servers: all, some, or such that do not exist.
  void change_servers();
  /// All connections have lists again that are right.
  void correct_servers();

  /// Begins nothing any more.
  void wind_down();
  bool is_idle() const;   ///< all its parts have what they wanted and gave it back
  bool has_load() const;  ///< something is open on behalf of locks
  /// Idle and without load: the observer has heard of every end.
  void check_events() const { events_->check_all_ended(); }
  /// Reports what is not finished.
  void report_unfinished(const std::string& what) const;
  /// Closes the connections, which ends their sessions.
  void close();

 private:
  struct Line {
    std::unique_ptr<SimulatedConnection> connection;
    std::vector<std::unique_ptr<Contender>> contenders;
    ConnectionOptions options;
    bool wrong_servers = false;
  };

  ConnectionOptions draw_options();
  std::string draw_servers();
  void set_servers(Line& line, std::string servers);
  std::function<void(std::function<void()>)> draw_executor();
  void post(Time delay, void (ClientProcess::*step)());
  void replace_connection();
  void ask_to_revoke();
  void close(Line& line);
  void bury();

  Stage& stage_;
  Process process_;
  Random random_;
  const std::shared_ptr<SimulatedWorld> world_;
  const std::shared_ptr<EventChecker> events_;  // observes all connections
  std::vector<Line> lines_;
  bool winding_down_ = false;
  bool closing_ = false;
};

}  // namespace zkrecipes::simulation
