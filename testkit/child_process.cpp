// SPDX-License-Identifier: Apache-2.0
#include "testkit/child_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace testkit {
namespace {

using Clock = std::chrono::steady_clock;

/// The children that have not been waited for. A pid is signalled only under the mutex and while it is listed, so it
/// cannot have been given to another process.
std::mutex mutex;
struct Child {
  int end_signal = SIGTERM;
  std::chrono::seconds patience{};
  std::optional<int> status;  // how it ended
};
std::map<pid_t, Child> children;  // guarded by mutex
bool ending = false;              // guarded by mutex; no more children

/// The pid is also the number of the child's process group.
void signal_child(const std::map<pid_t, Child>::value_type& child, int signal) noexcept {
  if (!child.second.status) ::kill(-child.first, signal);
}

void signal_child(pid_t pid, int signal) noexcept {
  const std::lock_guard lock(mutex);
  const auto child = children.find(pid);
  if (child != children.end()) signal_child(*child, signal);
}

std::optional<int> poll_exit(pid_t pid) noexcept {
  const std::lock_guard lock(mutex);
  const auto child = children.find(pid);
  if (child == children.end()) return 0;
  auto& ended = child->second.status;
  if (!ended) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == pid)
      ended = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return ended;
}

std::optional<int> await_exit(pid_t pid, Clock::time_point deadline) noexcept {
  for (;;) {
    if (const auto status = poll_exit(pid)) return status;
    if (Clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// Returns when to insist.
Clock::time_point ask_to_end(pid_t pid) noexcept {
  const std::lock_guard lock(mutex);
  const auto child = children.find(pid);
  if (child == children.end()) return Clock::now();
  signal_child(*child, child->second.end_signal);
  signal_child(*child, SIGCONT);  // one that is stopped would not hear it
  return Clock::now() + child->second.patience;
}

void end(pid_t pid, Clock::time_point deadline) noexcept {
  if (await_exit(pid, deadline)) return;
  signal_child(pid, SIGKILL);
  await_exit(pid, Clock::time_point::max());
}

struct SocketPair {
  int ends[2] = {-1, -1};
  SocketPair() {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::system_error(errno, std::generic_category(), "socketpair");
  }
};

/// posix_spawn's actions and attributes: the given socket as standard input and output, no other files, and no blocked
/// signals.
class SpawnSetup {
 public:
  SpawnSetup(int socket, const std::string& log_file) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    if (log_file.empty()) {
      posix_spawn_file_actions_adddup2(&actions_, socket, STDOUT_FILENO);
    } else {
      posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    }
    // A process that inherits the sockets of proxies keeps connections and ports open that the proxies have closed.
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    // A process group of its own: Ctrl-C is for this program, which then ends its children in order. And if this
    // program is killed while a child is stopped, the kernel wakes the child.
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  /// Returns 0 or the error.
  int spawn(const std::vector<std::string>& command, pid_t* pid) const {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    return ::posix_spawnp(pid, arguments.front(), &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const ChildOptions& options)
    : name_(command.at(0)), owner_(::getpid()) {
  const SocketPair pair;
  socket_ = pair.ends[0];
  int error = 0;
  {
    const SpawnSetup setup(pair.ends[1], options.log_file);
    std::unique_lock lock(mutex);
    while (ending) {
      lock.unlock();
      ::pause();
      lock.lock();
    }
    error = setup.spawn(command, &pid_);
    if (error == 0) children.emplace(pid_, Child{options.end_signal, options.patience, std::nullopt});
  }
  ::close(pair.ends[1]);
  if (error != 0) {
    ::close(socket_);
    throw std::system_error(error, std::generic_category(), "cannot start " + name_);
  }
}

ChildProcess::~ChildProcess() {
  if (::getpid() != owner_) {
    ::close(socket_);
    return;
  }
  close_input();
  end(pid_, ask_to_end(pid_));
  ::close(socket_);
  const std::lock_guard lock(mutex);
  children.erase(pid_);
}

void ChildProcess::write(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::send(socket_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::system_error(errno, std::generic_category(), "cannot write to " + name_);
    done += static_cast<std::size_t>(count);
  }
}

void ChildProcess::close_input() {
  ::shutdown(socket_, SHUT_WR);
}

bool ChildProcess::wait_for_line(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (!output_ended_ && received_.find('\n') == std::string::npos) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd readable{socket_, POLLIN, 0};
    const int ready = ::poll(&readable, 1, static_cast<int>(std::max<decltype(left)>(left, 0)));
    if (ready == 0) return false;
    if (ready < 0) continue;
    char buffer[4096];
    const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    output_ended_ = count <= 0;
    if (count > 0) received_.append(buffer, static_cast<std::size_t>(count));
  }
  return true;
}

std::optional<std::string> ChildProcess::read_line(std::chrono::milliseconds timeout) {
  if (!wait_for_line(timeout)) throw std::runtime_error(name_ + " does not answer in time");
  const std::size_t end_of_line = received_.find('\n');
  if (end_of_line == std::string::npos) return std::nullopt;
  std::string line = received_.substr(0, end_of_line);
  received_.erase(0, end_of_line + 1);
  return line;
}

int ChildProcess::wait(std::chrono::milliseconds timeout) {
  const auto status = await_exit(pid_, Clock::now() + timeout);
  if (!status) throw std::runtime_error(name_ + " does not end in time");
  return *status;
}

bool ChildProcess::has_ended() const noexcept {
  return poll_exit(pid_).has_value();
}

void ChildProcess::kill() {
  signal_child(pid_, SIGKILL);
  await_exit(pid_, Clock::time_point::max());
}

bool ChildProcess::pause() {
  signal_child(pid_, SIGSTOP);
  siginfo_t state{};
  // The signal is delivered to one thread after the other; only the wait tells that all have stopped. WNOWAIT leaves
  // the state in place for others that ask.
  while (::waitid(P_PID, static_cast<id_t>(pid_), &state, WSTOPPED | WEXITED | WNOWAIT) == -1 && errno == EINTR) {
  }
  return state.si_code == CLD_STOPPED;
}

void ChildProcess::resume() {
  signal_child(pid_, SIGCONT);
}

void end_children() noexcept {
  std::map<pid_t, Clock::time_point> deadlines;
  {
    const std::lock_guard lock(mutex);
    ending = true;
    for (const auto& child : children) deadlines[child.first];
  }
  for (auto& [pid, deadline] : deadlines) deadline = ask_to_end(pid);
  for (const auto& [pid, deadline] : deadlines) end(pid, deadline);
}

}  // namespace testkit
