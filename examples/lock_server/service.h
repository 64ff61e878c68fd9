// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>
#include <zkrecipes/acquire_options.h>
#include <zkrecipes/connection.h>
#include <zkrecipes/fair_mutex.h>

namespace examples {

/// "LOCK 3 2000": a client that wants lock 3 and waits for 2,000 ms at most.
struct Request {
  std::size_t lock = 0;
  std::chrono::milliseconds patience{0};
};

Request parse(const std::string& line);
std::string to_line(const Request& request);

/// What both servers share: the locks, and the books. For one thread.
class Service {
 public:
  Service(zkrecipes::Connection& connection, const std::string& folder, int locks, std::chrono::milliseconds work);

  zkrecipes::FairMutex& lock(const Request& request) { return *locks_.at(request.lock); }
  static zkrecipes::AcquireOptions options(const Request& request, const zkrecipes::StopToken& stop);
  std::chrono::milliseconds work() const noexcept { return work_; }  ///< to do with the lock

  void enter(const Request& request);  ///< throws std::logic_error if another one has the lock
  void leave(const Request& request);
  /// Throws `error` again unless it means that the client's time was over, or that the client is gone.
  void refuse(const std::exception_ptr& error);

  int answered() const noexcept { return served_ + timed_out_ + gone_; }
  /// "1000 requests: 800 served, 100 timed out, 100 gone"
  std::string summary() const;
  /// Holders and waiters that are still there after a moment: releases do not wait for the server.
  std::size_t nodes_left();

 private:
  zkrecipes::Connection& connection_;
  const std::string folder_;
  const std::chrono::milliseconds work_;
  std::vector<std::unique_ptr<zkrecipes::FairMutex>> locks_;
  std::vector<bool> is_taken_;
  int served_ = 0;
  int timed_out_ = 0;
  int gone_ = 0;
};

}  // namespace examples
