// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/client_process.h"
#include "tests/simulation/stage.h"

namespace zkrecipes::simulation {

enum class Fault {
  cut,            ///< links between clients and servers are cut
  freeze,         ///< the same links fall silent
  delay,          ///< the same links become slow
  server_cut,     ///< links between servers are cut
  server_freeze,  ///< the same links fall silent
  server_delay,   ///< the same links become slow
  isolate,        ///< a server loses all other servers, and keeps its clients
  depose,         ///< the leader loses all other servers, which elect another one before it notices
  kill,           ///< servers are killed and restarted
  pause,          ///< servers are paused
  majority,       ///< a majority of the servers is killed or paused
  lose_requests,  ///< connections are reset, requests under way are lost
  lose_replies,   ///< connections are reset, and the replies to what was carried out are lost
  lag,            ///< servers are late
  client_pause,   ///< client processes are paused
  client_kill,    ///< client processes are killed; others take their place
  drift,          ///< clocks of clients drift within the margin
  drift_beyond,   ///< clocks of clients drift beyond it
  move,           ///< servers move to other addresses
  names,          ///< names do not resolve
  servers,        ///< connections are given other lists of servers, some of them wrong
  delete_nodes,   ///< somebody deletes nodes of contenders by hand
  one_server,     ///< some connections know the address of one server only
};

const std::vector<Fault>& all_faults();
const char* to_string(Fault fault);
using FaultSet = std::set<Fault>;
/// All but drift_beyond, beyond which the promises do not reach.
FaultSet default_faults();
/// Names separated by commas; "all" is default_faults(), "none" is empty. Throws std::invalid_argument naming what it
/// does not know.
FaultSet parse_faults(const std::string& list);

/// Breaks things at random until it is stopped.
class FaultInjector {
 public:
  using Processes = std::vector<std::unique_ptr<ClientProcess>>;
  /// `replace` makes another process in the place of one that was killed.
  FaultInjector(Stage& stage, Processes& processes, FaultSet faults, std::function<void(std::size_t)> replace);

  void start();
  /// Everything is repaired, and nothing breaks any more.
  void stop();

 private:
  void next();
  void inject(Fault fault);
  void break_client_link(Ensemble::LinkFault fault);
  void break_server_link(Ensemble::LinkFault fault);
  void isolate(int server, Ensemble::LinkFault fault, Time duration);
  void depose();
  void stop_server(int server, bool kill, Time duration);
  void stop_majority();
  void lose(Fault fault);
  void kill_client();
  void delete_node();

  Time draw_duration();
  int draw_server();
  ClientProcess& draw_process();
  void note(const std::string& text);
  void later(Time delay, std::function<void()> repair);

  Stage& stage_;
  Processes& processes_;
  const std::function<void(std::size_t)> replace_;
  Random random_;
  std::vector<Fault> faults_;  // each as often as its weight says
  Time pace_{};
  int last_server_ = 0;
  std::size_t last_process_ = 0;
  bool stopped_ = false;
};

}  // namespace zkrecipes::simulation
