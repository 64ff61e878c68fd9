// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <sys/types.h>
#include <vector>

namespace zkrecipes::testing {

/// A program that this one started and talks to in lines, over its standard input and output. It ends, at the latest,
/// with this object; a program that reads its input to the end also ends when this program dies. Not thread-safe.
class ChildProcess {
 public:
  /// Throws std::system_error if it cannot be started.
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const noexcept { return pid_; }
  bool running();

  void send(const std::string& line);
  /// Waits for a line that begins with `beginning`; the lines before it are kept for later calls. Throws
  /// std::runtime_error at the limit, when the program has ended, or as soon as it says "error ...".
  std::string expect(const std::string& beginning, std::chrono::milliseconds limit = std::chrono::seconds(30));
  /// Whether such a line has come by now.
  bool has_said(const std::string& beginning);

  /// SIGKILL. Returns when it is dead, with the time by then, as histories count it.
  std::int64_t kill();
  void pause();   ///< SIGSTOP; returns when it has stopped
  void resume();  ///< SIGCONT
  /// Closes its input and waits; kills it at the limit and returns false. True if it then ended with 0.
  bool finish(std::chrono::milliseconds limit = std::chrono::seconds(20));

 private:
  bool receive(std::chrono::milliseconds limit);
  bool reap(bool block);

  pid_t pid_ = -1;
  int socket_ = -1;
  int status_ = -1;
  bool ended_ = false;
  std::string received_;
  std::deque<std::string> lines_;
};

}  // namespace zkrecipes::testing
