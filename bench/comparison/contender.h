// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <list>
#include <optional>
#include <string>

#include "bench/comparison/contender_role.h"
#include "testkit/child_process.h"

namespace comparison {

struct Reply {
  std::string word;
  std::chrono::steady_clock::time_point at;
  std::string detail;
};

/// A contender's process, seen from the parent; contender_role.h has the words. Ready on return of the constructor.
class Contender {
 public:
  explicit Contender(const ContenderSpec& spec);

  void send(const std::string& order);
  /// Replies of other kinds are kept for later calls. Throws std::runtime_error if the contender has ended.
  std::optional<Reply> await(const std::string& word, std::chrono::milliseconds timeout);
  /// Throws std::runtime_error when it takes too long.
  Reply await(const std::string& word);
  Reply ask(const std::string& order, const std::string& word);
  bool believes_to_hold() { return ask("held", "held").detail == "yes"; }

  void stop() { process_.pause(); }
  void resume() { process_.resume(); }
  void kill() { process_.kill(); }

 private:
  testkit::ChildProcess process_;
  std::list<Reply> unread_;
};

}  // namespace comparison
