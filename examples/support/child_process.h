// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace examples {

struct ChildOptions {
  /// Asks it to end; some servers take another one to mean "at once". 0: it ends soon by itself.
  int end_signal = SIGTERM;
  std::chrono::seconds patience{3};  ///< before it is killed
  std::string log_file;  ///< if not empty: takes standard output and error, so that read_line() finds nothing
};

/// A process that this program has started, with pipes to its standard input and from its standard output. Destroyed:
/// ended by its pid, whatever state it is in, with what it has started in its process group. end_children() does the
/// same for all of them.
class ChildProcess {
 public:
  /// `command`: the program (looked up in PATH unless it has a slash) and its arguments.
  /// @throws std::system_error if it cannot be started
  explicit ChildProcess(const std::vector<std::string>& command, const ChildOptions& options = {});
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void write(const std::string& text);
  void close_input();
  /// False when the time is over and there is neither a line nor the end of the output.
  bool wait_for_line(std::chrono::milliseconds timeout);
  /// Empty when the process has closed its output. Throws std::runtime_error when the time is over.
  std::optional<std::string> read_line(std::chrono::milliseconds timeout);
  /// The exit status, or 128 plus the signal that ended it. Throws std::runtime_error when the time is over.
  int wait(std::chrono::milliseconds timeout);
  bool has_ended() const noexcept;

  void kill();    ///< SIGKILL; returns when it is gone
  void stop();    ///< SIGSTOP; returns when it stands still
  void resume();  ///< SIGCONT

 private:
  // constant after construction
  pid_t pid_ = -1;
  int output_ = -1;

  int input_ = -1;
  std::string received_;
  bool output_ended_ = false;
};

/// Ends every child that is left: asks, and insists when its patience is over. From then on none can be started: who
/// tries waits for the end of the program.
void end_children() noexcept;

}  // namespace examples
