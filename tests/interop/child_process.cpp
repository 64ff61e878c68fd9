// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/child_process.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "tests/support/history.h"

namespace zkrecipes::testing {

namespace {

using SteadyClock = std::chrono::steady_clock;

bool begins_with(const std::string& line, const std::string& beginning) {
  return line.compare(0, beginning.size(), beginning) == 0;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  // A child that inherits the sockets of proxies keeps connections and ports open that the proxies have closed.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  // A group of its own: if this program dies while the child is paused, the kernel wakes the orphaned group.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int error = posix_spawn(&pid_, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  socket_ = ends[0];
  if (error != 0) {
    ::close(socket_);
    throw std::system_error(error, std::generic_category(), "cannot start " + command.front());
  }
}

ChildProcess::~ChildProcess() {
  if (!ended_) kill();
  ::close(socket_);
}

bool ChildProcess::reap(bool block) {
  if (ended_) return true;
  pid_t result = -1;
  do {
    result = waitpid(pid_, &status_, block ? 0 : WNOHANG);
  } while (result == -1 && errno == EINTR);
  ended_ = result != 0;
  return ended_;
}

bool ChildProcess::running() {
  return !reap(false);
}

void ChildProcess::send(const std::string& line) {
  const std::string bytes = line + "\n";
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count == -1 && errno == EINTR) continue;
    if (count == -1) throw std::runtime_error("the process has ended; not said: " + line);
    sent += static_cast<std::size_t>(count);
  }
}

bool ChildProcess::receive(std::chrono::milliseconds limit) {
  pollfd readable{socket_, POLLIN, 0};
  if (poll(&readable, 1, static_cast<int>(limit.count())) <= 0) return true;
  char buffer[4096];
  const ssize_t count = recv(socket_, buffer, sizeof buffer, 0);
  if (count == -1 && errno == EINTR) return true;
  if (count <= 0) return false;
  received_.append(buffer, static_cast<std::size_t>(count));
  for (std::size_t end = received_.find('\n'); end != std::string::npos; end = received_.find('\n')) {
    lines_.push_back(received_.substr(0, end));
    received_.erase(0, end + 1);
  }
  return true;
}

std::string ChildProcess::expect(const std::string& beginning, std::chrono::milliseconds limit) {
  const auto deadline = SteadyClock::now() + limit;
  for (bool open = true;;) {
    const auto found = std::find_if(lines_.begin(), lines_.end(), [&](const std::string& line) {
      return begins_with(line, beginning) || begins_with(line, "error");
    });
    if (found != lines_.end()) {
      const std::string line = *found;
      lines_.erase(found);
      if (!begins_with(line, beginning)) throw std::runtime_error("instead of '" + beginning + "': " + line);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (!open) throw std::runtime_error("the process ended before it said '" + beginning + "'");
    if (left.count() <= 0) throw std::runtime_error("the process does not say '" + beginning + "'");
    open = receive(left);
  }
}

bool ChildProcess::has_said(const std::string& beginning) {
  receive(std::chrono::milliseconds(0));
  return std::any_of(lines_.begin(), lines_.end(),
                     [&](const std::string& line) { return begins_with(line, beginning); });
}

std::int64_t ChildProcess::kill() {
  if (!ended_) ::kill(pid_, SIGKILL);
  reap(true);
  return history_time();
}

void ChildProcess::pause() {
  ::kill(pid_, SIGSTOP);
  siginfo_t state{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &state, WSTOPPED | WEXITED | WNOWAIT) == -1 && errno == EINTR) {
  }
}

void ChildProcess::resume() {
  ::kill(pid_, SIGCONT);
}

bool ChildProcess::finish(std::chrono::milliseconds limit) {
  const auto deadline = SteadyClock::now() + limit;
  shutdown(socket_, SHUT_WR);
  while (!reap(false)) {
    if (SteadyClock::now() > deadline) {
      kill();
      return false;
    }
    if (!receive(std::chrono::milliseconds(20))) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
}

}  // namespace zkrecipes::testing
