// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/process_tree.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/zklock/exit_codes.h"

namespace zklock {
namespace {

/// Looking again would not help: the process has ended, or /proc hides it from this user (hidepid).
bool is_final(int error) {
  return error == ENOENT || error == ESRCH || error == EPERM || error == EACCES;
}

/// From /proc/<id>/stat: "id (name) state parent group session ...". The name may contain anything, ")" included. None
/// if the process has ended or is hidden; `complete` turns false if that is not known.
std::optional<Process> read_process(const char* id, bool& complete) {
  const std::string path = std::string("/proc/") + id + "/stat";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  if (!file) {
    complete = complete && is_final(errno);
    return std::nullopt;
  }
  char line[1024];
  const std::size_t length = std::fread(line, 1, sizeof line - 1, file.get());
  line[length] = '\0';
  const char* name_end = std::strrchr(line, ')');
  if (name_end == nullptr) return std::nullopt;
  char state = 0;
  Process process;
  long threads = 0;
  if (std::sscanf(name_end + 1, " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
                  &state, &process.parent, &process.session, &threads, &process.started) != 5)
    return std::nullopt;
  // A process whose main thread has ended is shown as a zombie, too, while its other threads run.
  if (state == 'X' || (state == 'Z' && threads <= 1)) return std::nullopt;
  process.id = std::atoi(id);
  return process;
}

}  // namespace

void check_process_tree() {
  char target[32];
  const ssize_t length = ::readlink("/proc/self", target, sizeof target);
  if (length > 0 && std::string(target, static_cast<std::size_t>(length)) == std::to_string(::getpid())) return;
  throw Failure(kFailure, "/proc " +
                              std::string(length < 0 ? "is not mounted" : "is the one of another PID namespace") +
                              ", and without it processes of the command could outlive the lock; mount it, for example "
                              "with: unshare --mount-proc. Nothing was done");
}

Descendants descendants(pid_t root, const std::vector<Process>& except) {
  Descendants result;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  if (!folder) {
    result.complete = false;
    return result;
  }
  std::vector<Process> all;
  while (const dirent* entry = ::readdir(folder.get()))
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0)
      if (const auto process = read_process(entry->d_name, result.complete)) all.push_back(*process);
  const auto is_spared = [&except](const Process& process) {
    return std::any_of(except.begin(), except.end(),
                       [&](const Process& each) { return each.id == process.id && each.started == process.started; });
  };
  std::vector<pid_t> parents{root};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    for (const Process& each : all)
      if (each.parent == parent && !is_spared(each)) {
        result.found.push_back(each);
        parents.push_back(each.id);
      }
  }
  return result;
}

void kill_descendants(const std::vector<Process>& except) {
  for (int blind = 0;;) {
    bool killed = false;
    const Descendants left = descendants(::getpid(), except);
    for (const Process& each : left.found) killed = ::kill(each.id, SIGKILL) == 0 || killed;
    // Who has ended while the list was made may have started others that are not in it.
    while (::waitpid(-1, nullptr, WNOHANG) > 0) killed = true;
    if (!killed && (left.complete || ++blind == 1'000)) return;
    ::poll(nullptr, 0, 10);  // the killed have children, which become ours, and need a moment
  }
}

}  // namespace zklock
