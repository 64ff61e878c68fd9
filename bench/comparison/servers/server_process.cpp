// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/servers/server_process.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <pwd.h>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <utility>

#include "bench/comparison/servers/free_port.h"

namespace comparison {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{20};
constexpr int kPortsToTry = 3;

/// Debian keeps PostgreSQL's servers beside each other, one folder per version; the newest first.
std::vector<fs::path> program_folders() {
  std::vector<fs::path> folders;
  std::istringstream path(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) folders.emplace_back(folder);
  std::error_code none;
  std::vector<fs::path> versions;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", none)) versions.push_back(version.path());
  std::sort(versions.rbegin(), versions.rend());
  for (const fs::path& version : versions) folders.push_back(version / "bin");
  return folders;
}

}  // namespace

std::string find_program(const std::string& name, const std::string& package) {
  for (const fs::path& folder : program_folders())
    if (::access((folder / name).c_str(), X_OK) == 0) return folder / name;
  throw std::runtime_error("there is no " + name + " here: scripts/setup comparison (or apt install " + package +
                           ").\nOr leave the rows that need it out: --rows");
}

std::string end_of_log(const fs::path& file) {
  constexpr std::size_t kLines = 8;
  std::ifstream log(file);
  std::deque<std::string> lines;
  for (std::string line; std::getline(log, line);) {
    lines.push_back(line);
    if (lines.size() > kLines) lines.pop_front();
  }
  std::string text = "The end of its log:\n";
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

ServerProcess::ServerProcess(Settings settings) : settings_(std::move(settings)) {
  if (settings_.user.empty()) return;
  const passwd* const user = ::getpwnam(settings_.user.c_str());
  if (user == nullptr || ::chown(folder().c_str(), user->pw_uid, user->pw_gid) != 0)
    throw std::runtime_error("cannot give a folder to the user " + settings_.user + ", as whom " + settings_.name +
                             " must run");
}

std::vector<std::string> ServerProcess::wrapped(std::vector<std::string> command) const {
  std::vector<std::string> all{"setpriv", "--pdeathsig", ::sigabbrev_np(settings_.end_signal)};
  if (!settings_.user.empty())
    all.insert(all.end(), {"--reuid", settings_.user, "--regid", settings_.user, "--clear-groups"});
  std::move(command.begin(), command.end(), std::back_inserter(all));
  return all;
}

void ServerProcess::start() {
  // Another program may take the port before the server does.
  for (int attempt = 0; attempt < kPortsToTry; ++attempt) {
    port_ = free_port();
    endpoint_ = "127.0.0.1:" + std::to_string(port_);
    if (try_start()) return;
  }
  throw std::runtime_error(settings_.name + " does not start. " + end_of_log(folder() / "log"));
}

void ServerProcess::restart() {
  crash();
  if (!try_start()) throw std::runtime_error(settings_.name + " does not come back. " + end_of_log(folder() / "log"));
}

bool ServerProcess::try_start() {
  testkit::ChildOptions options;
  options.end_signal = settings_.end_signal;
  options.patience = settings_.patience;
  options.log_file = folder() / "log";
  process_ = std::make_unique<testkit::ChildProcess>(wrapped(settings_.command(port_, folder())), options);
  const auto deadline = Clock::now() + kPatience;
  while (!process_->has_ended() && Clock::now() < deadline) {
    if (settings_.answers(endpoint_)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  process_.reset();
  return false;
}

}  // namespace comparison
