// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_server.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "tests/support/member_processes.h"

namespace zkrecipes::testing {
namespace {

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

std::string start_arguments(int servers, const ServerOptions& options) {
  std::ostringstream line;
  line << "servers=" << servers << " tick-time=" << options.tick_time.count();
  if (options.min_session_timeout) line << " min-session-timeout=" << options.min_session_timeout->count();
  if (options.max_session_timeout) line << " max-session-timeout=" << options.max_session_timeout->count();
  if (!options.max_session_timeouts.empty()) {
    line << " max-session-timeout=";
    const char* separator = "";
    for (const std::chrono::milliseconds each : options.max_session_timeouts) {
      line << separator << each.count();
      separator = ",";
    }
  }
  if (options.sync_limit) line << " sync-limit=" << *options.sync_limit;
  if (options.init_limit) line << " init-limit=" << *options.init_limit;
  if (options.container_check_interval) {
    line << " container-check-interval=" << options.container_check_interval->count();
  }
  return line.str();
}

std::vector<std::string> process_arguments(const ServerOptions& options) {
  if (!options.jute_max_buffer) return {};
  return {"--jute-max-buffer", std::to_string(*options.jute_max_buffer)};
}

}  // namespace

ServerInfo parse_server_info(const std::string& reply) {
  ServerInfo info;
  for (const std::string& pair : split(reply, ' ')) {
    const std::size_t equals = pair.find('=');
    const std::string name = pair.substr(0, equals);
    const long value = std::stol(pair.substr(equals + 1));
    if (name == "running") info.running = static_cast<int>(value);
    if (name == "watches") info.watches = static_cast<int>(value);
    if (name == "connections") info.connections = static_cast<int>(value);
    if (name == "sessions") info.sessions = static_cast<int>(value);
    if (name == "nodes") info.nodes = static_cast<int>(value);
    if (name == "ephemerals") info.ephemerals = static_cast<int>(value);
    if (name == "packets-received") info.packets_received = value;
    if (name == "packets-sent") info.packets_sent = value;
    if (name == "outstanding") info.outstanding = value;
  }
  return info;
}

std::optional<std::string> external_servers() {
  const char* servers = std::getenv("ZKRECIPES_TEST_SERVERS");
  if (servers == nullptr || *servers == '\0') return std::nullopt;
  return servers;
}

TestEnsemble::TestEnsemble(int servers, const ServerOptions& options) {
  if (const auto external = external_servers()) {
    addresses_ = split(*external, ',');
    return;
  }
  controlled_links_ = options.controlled_links || options.process_per_member;
  if (options.process_per_member) {
    start_member_processes(servers, options);
    return;
  }
  if (options.own_process || options.jute_max_buffer) {
    own_process_ = std::make_unique<TestServerProcess>(process_arguments(options));
    process_ = own_process_.get();
  } else {
    process_ = &TestServerProcess::instance();
  }
  const std::string reply =
      process_->command("start " + start_arguments(servers, options) + (options.controlled_links ? " links=1" : ""));
  const std::size_t space = reply.find(' ');
  id_ = reply.substr(0, space);
  addresses_ = split(reply.substr(space + 1), ',');
}

void TestEnsemble::start_member_processes(int servers, const ServerOptions& options) {
  process_ = &TestServerProcess::instance();
  // <id> <addresses> directory=... ports=... ports=...
  std::vector<std::string> plan = split(process_->command("plan links=1 servers=" + std::to_string(servers)), ' ');
  id_ = plan.at(0);
  addresses_ = split(plan.at(1), ',');
  const std::string arguments = start_arguments(servers, options) + " " + plan.at(2);
  plan.erase(plan.begin(), plan.begin() + 3);
  member_processes_ = std::make_unique<MemberProcesses>(arguments, std::move(plan), process_arguments(options));
}

TestEnsemble::~TestEnsemble() {
  if (process_ == nullptr || own_process_) return;
  member_processes_.reset();
  try {
    command("close");
  } catch (const std::exception& error) {
    std::cerr << "test servers are left behind until the program ends: " << error.what() << '\n';
  }
}

std::string TestEnsemble::addresses() const {
  std::string list;
  for (const std::string& each : addresses_) list += (list.empty() ? "" : ",") + each;
  return list;
}

std::vector<int> TestEnsemble::all_members() const {
  std::vector<int> all;
  for (int member = 0; member < size(); ++member) all.push_back(member);
  return all;
}

int TestEnsemble::leader() {
  return member_processes_ ? member_processes_->leader(-1) : std::stoi(command("leader"));
}
int TestEnsemble::leader_after(int former) {
  return member_processes_ ? member_processes_->leader(former) : std::stoi(command("leader", std::to_string(former)));
}
void TestEnsemble::cut_link(int a, int b) {
  set_link(a, b, "cut");
}
void TestEnsemble::freeze_link(int a, int b) {
  set_link(a, b, "freeze");
}
void TestEnsemble::delay_link(int a, int b, std::chrono::milliseconds delay) {
  set_link(a, b, "delay=" + std::to_string(delay.count()));
}
void TestEnsemble::heal_link(int a, int b) {
  set_link(a, b, "heal");
}
void TestEnsemble::set_link(int a, int b, const std::string& fate) {
  command("link", std::to_string(a) + " " + std::to_string(b) + " " + fate);
}
void TestEnsemble::isolate(int member) {
  command("isolate", std::to_string(member) + " cut");
}
void TestEnsemble::isolate_silently(int member) {
  command("isolate", std::to_string(member) + " freeze");
}
void TestEnsemble::isolate_unnoticed(int member) {
  command("isolate", std::to_string(member) + " strand");
}
void TestEnsemble::heal() {
  command("heal");
  if (member_processes_) member_processes_->wait_until_united();
}
void TestEnsemble::pause_member(int member) {
  if (!member_processes_) throw std::logic_error("pausing a member needs ServerOptions::process_per_member");
  member_processes_->pause(member);
}
void TestEnsemble::resume_member(int member) {
  if (!member_processes_) throw std::logic_error("pausing a member needs ServerOptions::process_per_member");
  member_processes_->resume(member);
}
void TestEnsemble::stop(int member) {
  if (member_processes_)
    member_processes_->stop(member);
  else
    command("stop", std::to_string(member));
}
void TestEnsemble::kill(int member) {
  if (member_processes_)
    member_processes_->kill(member);
  else
    command("kill", std::to_string(member));
}
int TestEnsemble::kill_leader() {
  const int leader = this->leader();
  kill(leader);
  return leader;
}
void TestEnsemble::restart(int member) {
  if (member_processes_)
    member_processes_->restart({member});
  else
    command("restart", std::to_string(member));
}
void TestEnsemble::stop_all() {
  for (const int member : all_members()) stop(member);
}
void TestEnsemble::restart_all() {
  if (member_processes_)
    member_processes_->restart(all_members());
  else
    command("restart");
}
void TestEnsemble::expire_session(std::int64_t session_id) {
  if (member_processes_)
    member_processes_->expire_session(session_id);
  else
    command("expire", std::to_string(session_id));
}
ServerInfo TestEnsemble::info(int member) const {
  if (member_processes_) return member_processes_->info(member);
  return parse_server_info(command("info", std::to_string(member)));
}
ServerInfo TestEnsemble::info() const {
  if (!member_processes_) return parse_server_info(command("info"));
  ServerInfo total;
  for (const int member : all_members()) {
    const ServerInfo each = info(member);
    total.running += each.running;
    total.watches += each.watches;
    total.connections += each.connections;
    total.packets_received += each.packets_received;
    total.packets_sent += each.packets_sent;
    total.outstanding += each.outstanding;
    total.sessions = std::max(total.sessions, each.sessions);
    total.nodes = std::max(total.nodes, each.nodes);
    total.ephemerals = std::max(total.ephemerals, each.ephemerals);
  }
  return total;
}

TestServerProcess& TestEnsemble::process() const {
  if (process_ == nullptr) throw std::logic_error("the servers of ZKRECIPES_TEST_SERVERS cannot be controlled");
  return *process_;
}

std::string TestEnsemble::command(const std::string& verb, const std::string& arguments) const {
  return process().command(verb + " " + id_ + (arguments.empty() ? "" : " " + arguments));
}

}  // namespace zkrecipes::testing
