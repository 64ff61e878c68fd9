// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace examples {

/// A process that this program has started, with pipes to its standard input and from its standard output. Destroyed:
/// ended by its pid, whatever state it is in. end_children() does the same for all of them.
class ChildProcess {
 public:
  /// `command`: the program (looked up in PATH unless it has a slash) and its arguments.
  /// @throws std::system_error if it cannot be started
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void write(const std::string& text);
  void close_input();
  /// Empty when the process has closed its output. Throws std::runtime_error when the time is over.
  std::optional<std::string> read_line(std::chrono::milliseconds timeout);
  /// The exit status, or 128 plus the signal that ended it. Throws std::runtime_error when the time is over.
  int wait(std::chrono::milliseconds timeout);

  void stop();    ///< SIGSTOP; returns when it stands still
  void resume();  ///< SIGCONT

 private:
  // constant after construction
  pid_t pid_ = -1;
  int output_ = -1;

  int input_ = -1;
  std::string received_;
};

/// Ends every child that is left: asks with SIGTERM, and insists after three seconds.
void end_children() noexcept;

}  // namespace examples
