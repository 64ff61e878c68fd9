// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/test_server.h"

namespace zkrecipes::testing {

/// The members of an ensemble, each in a process of its own; the links between them pass a relay in yet another one.
/// Used by TestEnsemble with ServerOptions::process_per_member. Thread-safe.
class MemberProcesses {
 public:
  /// `start_arguments`: what all members are started with. `ports`: the argument of each member that names its ports.
  /// On return all serve.
  MemberProcesses(std::string start_arguments, std::vector<std::string> ports,
                  std::vector<std::string> process_arguments);

  int leader(int except);
  void stop(int member);
  void kill(int member);
  void restart(const std::vector<int>& members);
  void pause(int member);
  void resume(int member);
  void expire_session(std::int64_t session_id);
  ServerInfo info(int member);

  /// Until every member that runs and is not paused serves under one leader, if they are a majority.
  void wait_until_united();

 private:
  struct Member {
    std::unique_ptr<TestServerProcess> process;  // null after kill()
    std::string id;                              // of the server in that process
    bool stopped = false;
    bool paused = false;
    bool runs() const { return process && !stopped && !paused; }
  };
  struct Role {
    bool serves = false;
    bool leads = false;
    long epoch = 0;
    int followers = 0;
  };

  Member& at(int member) { return members_.at(static_cast<std::size_t>(member)); }
  void start(int member);
  Role role(int member);
  int find_leader();
  bool is_united();
  int running() const;
  static void wait_for(const char* what, const std::function<bool()>& condition);

  // constant after construction
  const std::string start_arguments_;
  const std::vector<std::string> ports_;
  const std::vector<std::string> process_arguments_;

  std::mutex mutex_;
  std::vector<Member> members_;  // guarded by mutex_
};

}  // namespace zkrecipes::testing
