// SPDX-License-Identifier: Apache-2.0
#include "tests/support/member_processes.h"

#include <signal.h>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace zkrecipes::testing {

MemberProcesses::MemberProcesses(std::string start_arguments, std::vector<std::string> ports,
                                 std::vector<std::string> process_arguments)
    : start_arguments_(std::move(start_arguments)),
      ports_(std::move(ports)),
      process_arguments_(std::move(process_arguments)),
      members_(ports_.size()) {
  // All processes first, so that they start up side by side.
  for (Member& member : members_) member.process = std::make_unique<TestServerProcess>(process_arguments_);
  for (std::size_t member = 0; member < members_.size(); ++member) start(static_cast<int>(member));
  wait_for("all members", [&] { return is_united(); });
}

int MemberProcesses::leader(int except) {
  std::lock_guard<std::mutex> lock(mutex_);
  int leader = -1;
  wait_for("a leader", [&] {
    leader = find_leader();
    return leader >= 0 && leader != except;
  });
  return leader;
}

void MemberProcesses::stop(int member) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!at(member).process || at(member).stopped) return;
  at(member).process->command("stop " + at(member).id);
  at(member).stopped = true;
}

void MemberProcesses::kill(int member) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!at(member).process) return;
  ::kill(at(member).process->pid(), SIGKILL);
  at(member) = Member();
}

void MemberProcesses::restart(const std::vector<int>& members) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const int member : members) {
    if (at(member).process) {
      at(member).process->command("restart " + at(member).id + " " + std::to_string(member));
      at(member).stopped = false;
    } else {
      at(member).process = std::make_unique<TestServerProcess>(process_arguments_);
      start(member);
    }
  }
  if (running() <= static_cast<int>(members_.size()) / 2) return;
  for (const int member : members) wait_for("a member to serve", [&] { return role(member).serves; });
}

void MemberProcesses::pause(int member) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!at(member).process) throw std::logic_error("the member was killed");
  at(member).process->pause();
  at(member).paused = true;
}

void MemberProcesses::resume(int member) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!at(member).process) throw std::logic_error("the member was killed");
  at(member).process->resume();
  at(member).paused = false;
}

void MemberProcesses::expire_session(std::int64_t session_id) {
  const int member = leader(-1);
  std::lock_guard<std::mutex> lock(mutex_);
  at(member).process->command("expire " + at(member).id + " " + std::to_string(session_id));
}

ServerInfo MemberProcesses::info(int member) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!at(member).runs()) return {};
  return parse_server_info(at(member).process->command("info " + at(member).id + " " + std::to_string(member)));
}

void MemberProcesses::wait_until_united() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (running() <= static_cast<int>(members_.size()) / 2) return;
  wait_for("all members under one leader", [&] { return is_united(); });
}

void MemberProcesses::start(int member) {
  const std::string reply = at(member).process->command("start " + start_arguments_ +
                                                        " member=" + std::to_string(member) + " " + ports_.at(member));
  at(member).id = reply.substr(0, reply.find(' '));
}

MemberProcesses::Role MemberProcesses::role(int member) {
  Role role;
  if (!at(member).runs()) return role;
  std::istringstream reply(at(member).process->command("role " + at(member).id + " " + std::to_string(member)));
  std::string name;
  reply >> name >> role.epoch >> role.followers;
  role.serves = name != "none";
  role.leads = name == "leading";
  return role;
}

/// A leader that was cut off or paused may go on for a while beside the next one, so the latest counts.
int MemberProcesses::find_leader() {
  int leader = -1;
  long latest = -1;
  for (int member = 0; member < static_cast<int>(members_.size()); ++member) {
    const Role role = this->role(member);
    if (!role.leads || role.epoch <= latest) continue;
    leader = member;
    latest = role.epoch;
  }
  return leader;
}

bool MemberProcesses::is_united() {
  int serving = 0;
  int leaders = 0;
  int followers = 0;
  for (int member = 0; member < static_cast<int>(members_.size()); ++member) {
    const Role role = this->role(member);
    serving += role.serves ? 1 : 0;
    leaders += role.leads ? 1 : 0;
    if (role.leads) followers = role.followers;
  }
  return leaders == 1 && serving == running() && followers + 1 >= serving;
}

int MemberProcesses::running() const {
  int count = 0;
  for (const Member& member : members_) count += member.runs() ? 1 : 0;
  return count;
}

void MemberProcesses::wait_for(const char* what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error(std::string("test servers: waited too long for ") + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace zkrecipes::testing
