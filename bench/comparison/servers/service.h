// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/comparison/locks/design.h"

namespace comparison {

/// The servers behind one design, and how they fail.
class Service {
 public:
  Service() = default;
  virtual ~Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Where clients connect, as make_lock() takes it. May be another after a failure.
  virtual std::string endpoints() const = 0;
  /// Called before the lock is taken that is to be lost. Returns false if these servers are not ours to break.
  virtual bool prepare_failure() { return true; }
  /// Returns when clients are served again, with what happened in two or three words.
  virtual std::string fail() = 0;
  /// So far, if the servers must count because the client does not.
  virtual std::optional<long> requests_received() { return std::nullopt; }
};

/// Throws std::runtime_error that says what to install if start_service() would miss a program.
void check_programs(const Design& design);

/// `zookeeper_servers`: use these instead of starting one; may be empty.
std::unique_ptr<Service> start_service(const Design& design, const std::string& zookeeper_servers);

}  // namespace comparison
