// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace testkit {

struct ChildOptions {
  /// Asks the process to end. Some servers take another signal to mean "at once"; 0 sends none, for a process that ends
  /// soon by itself.
  int end_signal = SIGTERM;
  std::chrono::seconds patience{3};  ///< before the process is killed
  std::string log_file;  ///< if not empty: receives standard output and error, so that read_line() finds nothing
};

/// A process that this program has started, with a socket to its standard input and from its standard output.
///
/// Lifetime: the destructor closes the input, sends ChildOptions::end_signal, and kills the process and its process
/// group when the patience is over. A child made by fork() may destroy its copy without harm. If this program dies, the
/// process sees the end of its input; if it is paused then, the kernel wakes it.
///
/// The process inherits no files but standard input, output and error.
///
/// Thread-safety: pid(), has_ended(), kill(), pause() and resume() may be called from any thread; the others read and
/// write the stream and are for one thread at a time.
///
///     testkit::ChildProcess child({"cat"});
///     child.write("hello\n");
///     auto line = child.read_line(std::chrono::seconds(5));
class ChildProcess {
 public:
  /// `command`: the program (looked up in PATH unless it has a slash) and its arguments.
  /// @throws std::system_error if it cannot be started
  explicit ChildProcess(const std::vector<std::string>& command, const ChildOptions& options = {});
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const noexcept { return pid_; }

  /// @throws std::system_error if the process has ended or closed its input. No SIGPIPE is raised.
  void write(const std::string& text);
  void close_input();
  /// Returns false when the time is over and there is neither a line nor the end of the output.
  bool wait_for_line(std::chrono::milliseconds timeout);
  /// Returns nothing when the process has closed its output. Throws std::runtime_error when the time is over.
  std::optional<std::string> read_line(std::chrono::milliseconds timeout);

  /// Returns the exit status, or 128 plus the signal that ended it. Throws std::runtime_error when the time is over.
  int wait(std::chrono::milliseconds timeout);
  bool has_ended() const noexcept;

  void kill();    ///< SIGKILL; returns when the process has ended
  bool pause();   ///< SIGSTOP; returns when all its threads have stopped, or false if it has ended instead
  void resume();  ///< SIGCONT

 private:
  // constant after construction
  const std::string name_;
  const pid_t owner_;
  pid_t pid_ = -1;
  int socket_ = -1;

  std::string received_;
  bool output_ended_ = false;
};

/// Ends all processes that are left: asks each of them, and kills it when its patience is over. A thread that starts
/// another process from then on blocks until this program ends.
void end_children() noexcept;

}  // namespace testkit
