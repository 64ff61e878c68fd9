// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/faults.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace zkrecipes::simulation {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Known {
  Fault fault;
  const char* name;
  int weight;
};
// Those that take a rare coincidence to do harm have more weight.
constexpr Known kKnown[] = {
    {Fault::cut, "cut", 3},
    {Fault::freeze, "freeze", 3},
    {Fault::delay, "delay", 3},
    {Fault::server_cut, "server_cut", 2},
    {Fault::server_freeze, "server_freeze", 2},
    {Fault::server_delay, "server_delay", 2},
    {Fault::isolate, "isolate", 4},
    {Fault::depose, "depose", 5},
    {Fault::kill, "kill", 3},
    {Fault::pause, "pause", 3},
    {Fault::majority, "majority", 1},
    {Fault::lose_requests, "lose_requests", 4},
    {Fault::lose_replies, "lose_replies", 10},
    {Fault::lag, "lag", 4},
    {Fault::client_pause, "client_pause", 3},
    {Fault::client_kill, "client_kill", 1},
    {Fault::drift, "drift", 1},
    {Fault::drift_beyond, "drift_beyond", 2},
    {Fault::move, "move", 1},
    {Fault::names, "names", 1},
    {Fault::servers, "servers", 4},
    {Fault::delete_nodes, "delete_nodes", 2},
    {Fault::one_server, "one_server", 0},
};

const Known& known(Fault fault) {
  return *std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& one) { return one.fault == fault; });
}

std::string seconds_of(Time time) {
  std::ostringstream text;
  text.precision(3);
  text << static_cast<double>(time.count()) / 1e9 << " s";
  return text.str();
}

const char* verb(Ensemble::LinkFault fault) {
  switch (fault) {
    case Ensemble::LinkFault::none:
      return "healed";
    case Ensemble::LinkFault::cut:
      return "cut";
    case Ensemble::LinkFault::silent:
      return "silent";
    case Ensemble::LinkFault::slow:
      return "slow";
  }
  return "unknown";
}

}  // namespace

const std::vector<Fault>& all_faults() {
  static const std::vector<Fault> all = [] {
    std::vector<Fault> faults;
    for (const Known& one : kKnown) faults.push_back(one.fault);
    return faults;
  }();
  return all;
}

const char* to_string(Fault fault) {
  return known(fault).name;
}

FaultSet default_faults() {
  FaultSet faults(all_faults().begin(), all_faults().end());
  faults.erase(Fault::drift_beyond);
  return faults;
}

FaultSet parse_faults(const std::string& list) {
  FaultSet faults;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == "none" || name.empty()) continue;
    if (name == "all") {
      faults.merge(default_faults());
      continue;
    }
    const auto found =
        std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& one) { return name == one.name; });
    if (found == std::end(kKnown)) throw std::invalid_argument("there is no fault called '" + name + "'");
    faults.insert(found->fault);
  }
  return faults;
}

FaultInjector::FaultInjector(Stage& stage, Processes& processes, FaultSet faults,
                             std::function<void(std::size_t)> replace)
    : stage_(stage), processes_(processes), replace_(std::move(replace)), random_(stage.scheduler.random().next()) {
  // Each run has some of the faults only: what one of them shows, another can hide.
  const double share = 0.3 + 0.7 * random_.fraction();
  for (const Fault fault : faults) {
    if (!random_.chance(share)) continue;
    faults_.insert(faults_.end(), static_cast<std::size_t>(known(fault).weight), fault);
  }
  pace_ = random_.between(milliseconds(500), seconds(4));
}

void FaultInjector::start() {
  if (faults_.empty()) return;
  later(random_.between({}, 2 * pace_), [this] { next(); });
}

void FaultInjector::stop() {
  stopped_ = true;
  note("all faults end");
  stage_.names.set_down(false);
  for (int server = 0; server < stage_.ensemble.size(); ++server)
    if (stage_.ensemble.address(server) != stage_.home_addresses[static_cast<std::size_t>(server)])
      stage_.ensemble.move_address(server, stage_.home_addresses[static_cast<std::size_t>(server)]);
  stage_.ensemble.heal();
  for (const auto& process : processes_) {
    process->correct_servers();
    process->resume();
  }
}

void FaultInjector::next() {
  inject(faults_[random_.below(faults_.size())]);
  later(random_.between({}, 2 * pace_), [this] { next(); });
}

void FaultInjector::inject(Fault fault) {
  using LinkFault = Ensemble::LinkFault;
  switch (fault) {
    case Fault::cut:
      return break_client_link(LinkFault::cut);
    case Fault::freeze:
      return break_client_link(LinkFault::silent);
    case Fault::delay:
      return break_client_link(LinkFault::slow);
    case Fault::server_cut:
      return break_server_link(LinkFault::cut);
    case Fault::server_freeze:
      return break_server_link(LinkFault::silent);
    case Fault::server_delay:
      return break_server_link(LinkFault::slow);
    case Fault::isolate: {
      const auto how = random_.chance(0.8) ? LinkFault::silent : LinkFault::cut;
      return isolate(draw_server(), how, std::max<Time>(draw_duration(), stage_.session_timeout));
    }
    case Fault::depose:
      return depose();
    case Fault::kill:
      return stop_server(draw_server(), true, draw_duration());
    case Fault::pause:
      return stop_server(draw_server(), false, draw_duration());
    case Fault::majority:
      return stop_majority();
    case Fault::lose_requests:
    case Fault::lose_replies:
      return lose(fault);
    case Fault::lag: {
      const int server = draw_server();
      const Time lag = random_.between(milliseconds(1), stage_.session_timeout * 2 / 3);
      const Time duration = draw_duration();
      note("server " + std::to_string(server) + " is late by " + seconds_of(lag) + " for " + seconds_of(duration));
      stage_.ensemble.set_lag(server, lag);
      return later(duration, [this, server] { stage_.ensemble.set_lag(server, {}); });
    }
    case Fault::client_pause: {
      ClientProcess* const process = &draw_process();
      process->pause();
      return later(draw_duration(), [process] { process->resume(); });
    }
    case Fault::client_kill:
      return kill_client();
    case Fault::drift:
    case Fault::drift_beyond: {
      ClientProcess& process = draw_process();
      const double most = fault == Fault::drift ? 0.03 : 0.6;
      const double rate = 1.0 + most * (2 * random_.fraction() - 1);
      note("the clock of " + process_name(process.number()) + " runs at " + std::to_string(rate));
      return process.process().set_clock_rate(rate);
    }
    case Fault::move: {
      const int server = draw_server();
      const std::string address =
          "10.1." + std::to_string(random_.below(250)) + "." + std::to_string(server + 1) + ":2181";
      note("server " + std::to_string(server) + " moves to " + address);
      return stage_.ensemble.move_address(server, address);
    }
    case Fault::names: {
      const Time duration = draw_duration();
      note("names do not resolve for " + seconds_of(duration));
      stage_.names.set_down(true);
      return later(duration, [this] { stage_.names.set_down(false); });
    }
    case Fault::servers:
      return draw_process().change_servers();
    case Fault::delete_nodes:
      return delete_node();
    case Fault::one_server:
      return;  // a matter of how connections are made
  }
}

// ---- Links ----

void FaultInjector::break_client_link(Ensemble::LinkFault fault) {
  const int process = draw_process().number();
  const Time duration = draw_duration();
  const Time extra = random_.between(milliseconds(1), stage_.session_timeout / 2);
  const bool one_way = fault != Ensemble::LinkFault::cut && random_.chance(0.3);
  const bool to_server = random_.chance(0.5);
  const bool all = random_.chance(0.4);
  const int one = draw_server();
  for (int server = 0; server < stage_.ensemble.size(); ++server) {
    if (!all && server != one) continue;
    note("the link of " + process_name(process) + " with server " + std::to_string(server) + " is " + verb(fault) +
         (one_way ? (to_server ? " towards the server" : " towards the client") : "") + " for " + seconds_of(duration));
    if (one_way)
      stage_.ensemble.set_client_link_one_way(process, server, to_server, fault, extra);
    else
      stage_.ensemble.set_client_link(process, server, fault, extra);
    later(duration,
          [this, process, server] { stage_.ensemble.set_client_link(process, server, Ensemble::LinkFault::none); });
  }
}

void FaultInjector::break_server_link(Ensemble::LinkFault fault) {
  if (stage_.ensemble.size() < 2) return;
  const int size = stage_.ensemble.size();
  const int a = draw_server();
  const int b = (a + 1 + static_cast<int>(random_.below(static_cast<std::uint64_t>(size) - 1))) % size;
  const Time duration = draw_duration();
  const Time extra = random_.between(milliseconds(1), stage_.session_timeout / 2);
  const bool one_way = fault != Ensemble::LinkFault::cut && random_.chance(0.3);
  note("the link between servers " + std::to_string(a) + " and " + std::to_string(b) + " is " + verb(fault) +
       (one_way ? " one way" : "") + " for " + seconds_of(duration));
  if (one_way)
    stage_.ensemble.set_server_link_one_way(a, b, fault, extra);
  else
    stage_.ensemble.set_server_link(a, b, fault, extra);
  later(duration, [this, a, b] { stage_.ensemble.set_server_link(a, b, Ensemble::LinkFault::none); });
}

void FaultInjector::isolate(int server, Ensemble::LinkFault fault, Time duration) {
  note("server " + std::to_string(server) + (server == stage_.ensemble.leader() ? ", the leader," : "") +
       " is cut off from the other servers (" + verb(fault) + ") for " + seconds_of(duration));
  for (int other = 0; other < stage_.ensemble.size(); ++other) {
    if (other == server) continue;
    stage_.ensemble.set_server_link(server, other, fault);
    later(duration,
          [this, server, other] { stage_.ensemble.set_server_link(server, other, Ensemble::LinkFault::none); });
  }
}

/// The others are restarted, so they look for another leader at once. The old one hears nothing of it, and goes on
/// until its syncLimit is over.
void FaultInjector::depose() {
  const int leader = stage_.ensemble.leader();
  if (leader < 0) return;
  last_server_ = leader;
  isolate(leader, Ensemble::LinkFault::silent, random_.between(stage_.session_timeout, 4 * stage_.session_timeout));
  for (int other = 0; other < stage_.ensemble.size(); ++other)
    if (other != leader) stop_server(other, true, random_.between(milliseconds(1), milliseconds(200)));
}

// ---- Servers ----

void FaultInjector::stop_server(int server, bool kill, Time duration) {
  if (!stage_.ensemble.is_up(server)) return;
  note("server " + std::to_string(server) + " is " + (kill ? "killed" : "paused") + " for " + seconds_of(duration));
  if (kill)
    stage_.ensemble.kill(server);
  else
    stage_.ensemble.pause(server);
  later(duration, [this, server, kill] {
    if (kill && !stage_.ensemble.is_alive(server)) stage_.ensemble.restart(server);
    if (!kill && stage_.ensemble.is_paused(server)) stage_.ensemble.resume(server);
  });
}

void FaultInjector::stop_majority() {
  const int size = stage_.ensemble.size();
  const int first = draw_server();
  const bool kill = random_.chance(0.5);
  for (int i = 0; i <= size / 2; ++i) stop_server((first + i) % size, kill, draw_duration());
}

// ---- Connections and clients ----

void FaultInjector::lose(Fault fault) {
  const int process = draw_process().number();
  if (fault == Fault::lose_replies && random_.chance(0.7)) {
    stage_.ensemble.lose_next_reply(process);
    return note("the reply to the next write of " + process_name(process) + " will be lost");
  }
  const bool requests = fault == Fault::lose_requests;
  if (stage_.ensemble.drop_connection(process, requests ? Ensemble::Loss::requests : Ensemble::Loss::replies))
    note("a connection of " + process_name(process) + " is reset, with the loss of " +
         (requests ? "requests" : "replies"));
}

void FaultInjector::kill_client() {
  const std::size_t index = random_.below(processes_.size());
  if (!processes_[index]->is_alive()) return;
  processes_[index]->kill();
  replace_(index);
}

void FaultInjector::delete_node() {
  std::vector<std::string> nodes;
  stage_.ensemble.for_each_node([&](const Ensemble::Node& node) {
    if (node.owner != 0) nodes.emplace_back(node.path);
  });
  if (nodes.empty()) return;
  const std::string& node = nodes[random_.below(nodes.size())];
  for (const LockPath& path : stage_.paths)
    if (node.compare(0, path.path.size(), path.path) == 0)
      stage_.checker.node_deleted(path.id, node, stage_.session_timeout);
  note("somebody deletes " + node);
  stage_.ensemble.delete_node(node);
}

// ---- Draws ----

Time FaultInjector::draw_duration() {
  const double draw = random_.fraction();
  if (draw < 0.3) return random_.between(milliseconds(1), milliseconds(500));
  if (draw < 0.8) return random_.between(milliseconds(100), stage_.session_timeout);
  return random_.between(stage_.session_timeout, 3 * stage_.session_timeout);
}

/// Often the same as before: it takes two faults in one place to show some weaknesses.
int FaultInjector::draw_server() {
  if (!random_.chance(0.4))
    last_server_ = static_cast<int>(random_.below(static_cast<std::uint64_t>(stage_.ensemble.size())));
  return last_server_;
}

ClientProcess& FaultInjector::draw_process() {
  if (!random_.chance(0.4)) last_process_ = random_.below(processes_.size());
  return *processes_[last_process_];
}

void FaultInjector::note(const std::string& text) {
  stage_.note(RunTrace::fault, 0, [&] { return text; });
}

void FaultInjector::later(Time delay, std::function<void()> repair) {
  stage_.scheduler.after(delay, [this, repair = std::move(repair)] {
    if (!stopped_) repair();
  });
}

}  // namespace zkrecipes::simulation
