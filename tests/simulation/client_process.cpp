// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/client_process.h"

#include <algorithm>
#include <utility>

namespace zkrecipes::simulation {

namespace {
using std::chrono::milliseconds;
using std::chrono::seconds;
}  // namespace

ClientProcess::ClientProcess(Stage& stage, int number, double clock_rate)
    : stage_(stage),
      process_(stage.scheduler, number),
      random_(stage.scheduler.random().next()),
      world_(std::make_shared<SimulatedWorld>(process_, stage.ensemble, stage.names)),
      events_(std::make_shared<EventChecker>(stage.checker, number)) {
  process_.set_clock_rate(clock_rate);
}

ClientProcess::~ClientProcess() {
  kill();
}

std::string ClientProcess::draw_servers() {
  std::string servers;
  const bool named = random_.chance(0.7);
  const int size = stage_.ensemble.size();
  const bool single = random_.chance(stage_.one_server);
  const int only = static_cast<int>(random_.below(static_cast<std::uint64_t>(size)));
  for (int server = 0; server < size; ++server) {
    if (single && server != only) continue;
    if (!servers.empty()) servers += ",";
    servers += named ? NameService::name_of(server) : stage_.home_addresses[static_cast<std::size_t>(server)];
  }
  return servers;
}

ConnectionOptions ClientProcess::draw_options() {
  ConnectionOptions options;
  options.servers = draw_servers();
  if (random_.chance(0.3)) options.servers += kRootPath;
  // From three ticks on; two are documented to leave no margin.
  const auto tick = stage_.ensemble.options().tick;
  const auto most = std::chrono::duration_cast<milliseconds>(stage_.session_timeout);
  options.session_timeout = random_.chance(0.5) ? most : std::max<milliseconds>(3 * tick, most / 2);
  options.identity = process_name(number());
  options.executor = draw_executor();
  options.observer = events_;
  return options;
}

/// None, one that runs callbacks on the spot, an event loop, or a pool of threads.
std::function<void(std::function<void()>)> ClientProcess::draw_executor() {
  switch (random_.below(6)) {
    case 0:
      return [](const std::function<void()>& callback) { callback(); };
    case 1:
      return [this](std::function<void()> callback) { process_.post(milliseconds(1), std::move(callback)); };
    case 2:
      return [this](std::function<void()> callback) {
        process_.post(random_.between({}, milliseconds(3)), std::move(callback));
      };
    default:
      return nullptr;
  }
}

void ClientProcess::start() {
  if (winding_down_) return;
  const std::size_t connections = 1 + random_.below(2);
  lines_.resize(connections);
  for (Line& line : lines_) {
    line.options = draw_options();
    const bool chrooted = line.options.servers.find('/') != std::string::npos;
    line.connection = std::make_unique<SimulatedConnection>(line.options, world_);
    for (const LockPath& path : stage_.paths) {
      if (random_.chance(0.3)) continue;
      line.contenders.push_back(std::make_unique<Contender>(stage_, world_, path, chrooted, *events_));
      line.contenders.back()->use(*line.connection);
      line.contenders.back()->start();
    }
  }
  stage_.note(RunTrace::process, number(), [&] {
    std::string text = process_name(number()) + " starts";
    for (const Line& line : lines_)
      text += ", connects to " + line.options.servers + " with a timeout of " +
              std::to_string(line.options.session_timeout.count()) + " ms";
    return text;
  });
  post(random_.between({}, seconds(60)), &ClientProcess::replace_connection);
  post(random_.between({}, seconds(2)), &ClientProcess::ask_to_revoke);
}

void ClientProcess::post(Time delay, void (ClientProcess::*step)()) {
  process_.post(delay, [this, step] { (this->*step)(); });
}

void ClientProcess::pause() {
  if (!is_alive() || process_.is_paused()) return;
  process_.pause();
  stage_.note(RunTrace::process, number(), [&] { return process_name(number()) + " is paused"; });
}

void ClientProcess::resume() {
  if (!is_alive() || !process_.is_paused()) return;
  world_->resumed();
  process_.resume();
  stage_.note(RunTrace::process, number(), [&] { return process_name(number()) + " goes on"; });
}

void ClientProcess::change_servers() {
  if (winding_down_ || lines_.empty()) return;
  Line& line = lines_[random_.below(lines_.size())];
  std::string servers;
  line.wrong_servers = random_.chance(0.15);
  if (line.wrong_servers)
    servers = random_.chance(0.5) ? "10.9.9.9:2181,10.9.9.8:2181" : "nowhere";
  else if (random_.chance(0.5))
    servers = NameService::name_of(static_cast<int>(random_.below(static_cast<std::uint64_t>(stage_.ensemble.size()))));
  else
    servers = draw_servers();
  set_servers(line, std::move(servers));
}

void ClientProcess::correct_servers() {
  for (Line& line : lines_)
    if (std::exchange(line.wrong_servers, false)) set_servers(line, draw_servers());
}

void ClientProcess::set_servers(Line& line, std::string servers) {
  stage_.note(RunTrace::process, number(),
              [&] { return process_name(number()) + " is given the servers " + servers + " for a connection"; });
  const std::size_t chroot = line.options.servers.find('/');
  line.options.servers = servers + (chroot == std::string::npos ? "" : line.options.servers.substr(chroot));
  // A task of the process, so that one that is paused does not act. Two tasks that wait for the end of a pause may run
  // in any order, so each of them sets the newest list.
  process_.post({}, [this, index = static_cast<std::size_t>(&line - lines_.data())] {
    if (index >= lines_.size()) return;
    try {
      lines_[index].connection->set_servers(lines_[index].options.servers);
    } catch (const ConnectionClosed&) {
      // It is being replaced by one with these servers.
    }
  });
}

void ClientProcess::kill() {
  if (!is_alive()) return;
  stage_.note(RunTrace::process, number(), [&] { return process_name(number()) + " is killed"; });
  stage_.checker.process_died(number());
  process_.kill();
  stage_.ensemble.process_died(number());
  if (!closing_) bury();
}

/// What is left of a dead process is destroyed without a word to the servers.
void ClientProcess::bury() {
  for (Line& line : lines_) line.contenders.clear();
  lines_.clear();
}

void ClientProcess::wind_down() {
  winding_down_ = true;
  for (Line& line : lines_)
    for (const auto& contender : line.contenders) contender->wind_down();
}

bool ClientProcess::is_idle() const {
  for (const Line& line : lines_)
    for (const auto& contender : line.contenders)
      if (!contender->is_idle()) return false;
  return true;
}

bool ClientProcess::has_load() const {
  return std::any_of(lines_.begin(), lines_.end(), [](const Line& line) { return !line.connection->load().is_zero(); });
}

void ClientProcess::report_unfinished(const std::string& what) const {
  for (const Line& line : lines_) {
    for (const auto& contender : line.contenders)
      if (!contender->is_idle())
        stage_.checker.report(what + contender->describe(), contender->path().id, {number()}, contender->began());
    const auto load = line.connection->load();
    if (!load.is_zero())
      stage_.checker.report(what + process_name(number()) + " still has " + std::to_string(load.requests) +
                                " requests, " + std::to_string(load.watches) + " watches, " +
                                std::to_string(load.probes) + " probes and " + std::to_string(load.timers) + " timers",
                            number());
  }
}

void ClientProcess::close() {
  for (Line& line : lines_) {
    close(line);
    if (!is_alive()) break;
  }
  if (!is_alive()) bury();
}

void ClientProcess::close(Line& line) {
  closing_ = stage_.closing = true;
  line.connection->close();
  closing_ = stage_.closing = false;
  if (!is_alive()) return;
  for (const auto& contender : line.contenders) contender->connection_closed();
}

void ClientProcess::replace_connection() {
  if (winding_down_) return;
  post(random_.between(seconds(5), seconds(100)), &ClientProcess::replace_connection);
  if (stage_.closing) return;
  Line& line = lines_[random_.below(lines_.size())];
  stage_.note(RunTrace::process, number(),
              [&] { return process_name(number()) + " closes a connection and opens another one"; });
  close(line);
  if (!is_alive()) return bury();
  line.connection = std::make_unique<SimulatedConnection>(line.options, world_);
  for (const auto& contender : line.contenders) contender->use(*line.connection);
}

void ClientProcess::ask_to_revoke() {
  if (winding_down_) return;
  post(random_.between({}, seconds(2)), &ClientProcess::ask_to_revoke);
  if (stage_.paths.empty()) return;
  const Line& line = lines_[random_.below(lines_.size())];
  const LockPath& path = stage_.paths[random_.below(stage_.paths.size())];
  std::vector<std::string> nodes;
  if (path.family == LockFamily::simple) {
    nodes.push_back(path.path);
  } else {
    stage_.ensemble.for_each_node([&](const Ensemble::Node& node) {
      if (node.owner != 0 && node.path.substr(0, path.path.size()) == path.path) nodes.emplace_back(node.path);
    });
  }
  if (nodes.empty()) return;
  std::string node = nodes[random_.below(nodes.size())];
  stage_.note(RunTrace::wait, number(),
              [&] { return process_name(number()) + " asks the owner of " + node + " to give it up"; });
  if (line.options.servers.find('/') != std::string::npos) node = node.substr(kRootPath.size());
  request_revoke(*line.connection, node);
}

}  // namespace zkrecipes::simulation
