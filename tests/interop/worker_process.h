// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <sys/types.h>
#include <vector>

#include "testkit/child_process.h"

namespace zkrecipes::testing {

/// A program that this one started and talks to in lines, over its standard input and output. It is killed, at the
/// latest, by the destructor; a program that reads its input to the end also ends when this program dies. Not
/// thread-safe.
class WorkerProcess {
 public:
  /// Throws std::system_error if it cannot be started.
  explicit WorkerProcess(const std::vector<std::string>& command);

  pid_t pid() const noexcept { return process_.pid(); }
  bool running() const noexcept { return !process_.has_ended(); }

  void send(const std::string& line) { process_.write(line + "\n"); }
  /// Waits for a line that begins with `beginning`; the lines before it are kept for later calls. Throws
  /// std::runtime_error at the limit, when the program has ended, or as soon as it says "error ...".
  std::string expect(const std::string& beginning, std::chrono::milliseconds limit = std::chrono::seconds(30));
  /// Whether such a line has been received by now.
  bool has_said(const std::string& beginning);

  /// SIGKILL. Returns when the program has ended, with the time by then, as histories count it.
  std::int64_t kill();
  void pause() { process_.pause(); }    ///< SIGSTOP; returns when it has stopped
  void resume() { process_.resume(); }  ///< SIGCONT
  /// Closes its input and waits; kills it at the limit and returns false. True if it then ended with 0.
  bool finish(std::chrono::milliseconds limit = std::chrono::seconds(20));

 private:
  testkit::ChildProcess process_;
  std::deque<std::string> lines_;  // received and not yet expected
};

}  // namespace zkrecipes::testing
