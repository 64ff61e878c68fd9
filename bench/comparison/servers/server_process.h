// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "testkit/child_process.h"
#include "testkit/temporary_folder.h"

namespace comparison {

/// Where a program is: in PATH, or where Debian keeps PostgreSQL. Throws std::runtime_error that says what to install.
std::string find_program(const std::string& name, const std::string& package);

/// For error messages.
std::string end_of_log(const std::filesystem::path& file);

/// A server program with a folder for its data, that can be killed and restarted at the same port. Ends with this
/// object, with the thread that started it (even if this program is killed), and on Ctrl-C.
class ServerProcess {
 public:
  using Command = std::function<std::vector<std::string>(int port, const std::filesystem::path& folder)>;
  struct Settings {
    std::string name;
    Command command;
    std::function<bool(const std::string& endpoint)> answers;
    int end_signal = SIGKILL;  ///< ends it at once, as a crash does
    std::chrono::seconds patience{3};
    std::string user;  ///< to run as; empty: as we are
  };

  explicit ServerProcess(Settings settings);

  /// On a free port; answering on return. Throws std::runtime_error with the end of its log.
  void start();
  void crash() { process_.reset(); }
  void restart();  ///< same port, same data; answering on return

  const std::string& endpoint() const noexcept { return endpoint_; }
  const std::filesystem::path& folder() const noexcept { return folder_.path(); }
  /// `command` as it must be run for the server's user and for its end with us.
  std::vector<std::string> wrapped(std::vector<std::string> command) const;

 private:
  bool try_start();

  // constant after construction
  const Settings settings_;
  const testkit::TemporaryFolder folder_;

  int port_ = 0;
  std::string endpoint_;
  std::unique_ptr<testkit::ChildProcess> process_;
};

}  // namespace comparison
