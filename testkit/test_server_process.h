// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <sys/types.h>
#include <vector>

#include "testkit/child_process.h"

namespace testkit {

/// The executable that starts servers: environment variable ZKRECIPES_TEST_SERVER_LAUNCHER, else the one of this build.
std::string test_server_launcher();

/// A Java process that runs ZooKeeper servers (third_party/curator_test_server). It ends when this object is destroyed,
/// and by itself when this program dies. A child made by fork() may destroy its copy without harm. Thread-safe:
/// commands are carried out one after the other.
///
///     testkit::TestServerProcess process;
///     std::string id_and_address = process.command("start");
class TestServerProcess {
 public:
  /// The process that all servers of this program share, started on first use.
  static TestServerProcess& instance();

  /// @throws std::runtime_error if it cannot be started
  explicit TestServerProcess(const std::vector<std::string>& arguments = {});

  pid_t pid() const noexcept { return process_.pid(); }

  /// Freezes every server of the process, as a long garbage collection would: connections stay open, nobody answers.
  void pause();
  void resume();

  /// Returns what follows "ok"; the commands are listed in third_party/curator_test_server/README.md.
  /// @throws std::runtime_error if the answer is "error ...", is not received in 60 s, or the process has ended
  /// @throws std::logic_error while paused
  std::string command(const std::string& line);

 private:
  std::string exchange(const std::string& line);

  std::mutex mutex_;
  // guarded by mutex_, but for the pid
  ChildProcess process_;
  std::string broken_;  // why no further command can be answered
  bool paused_ = false;
};

}  // namespace testkit
