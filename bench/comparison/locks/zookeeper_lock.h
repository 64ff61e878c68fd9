// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <zkrecipes/connection.h>
#include <zkrecipes/error.h>
#include <zkrecipes/hold.h>

#include "bench/comparison/locks/lock.h"
#include "examples/support/interrupt.h"

namespace comparison {

/// One of zkrecipes' locks, FairMutex or SimpleLock. The lease is the session.
template <class Recipe>
class ZookeeperLock : public Lock {
 public:
  ZookeeperLock(const std::string& servers, const std::string& name, std::chrono::milliseconds lease)
      : connection_(std::make_shared<zkrecipes::Connection>(options(servers, lease))),
        recipe_(*connection_, "/zkrecipes-examples/" + name) {
    examples::close_on_interrupt(connection_);
    if (!connection_->wait_until_connected(kPatience)) throw std::runtime_error("no ZooKeeper answers at " + servers);
  }

  void acquire() override { hold_ = recipe_.acquire(); }
  bool release() override {
    zkrecipes::Hold hold = std::move(hold_);
    try {
      hold.release();
      return true;
    } catch (const zkrecipes::Error&) {
      return false;
    }
  }
  bool is_held() override { return hold_ && hold_.is_valid(); }
  std::optional<std::int64_t> token() override { return hold_.token().zxid; }
  std::optional<long> requests() const noexcept override { return std::nullopt; }

 private:
  static constexpr std::chrono::seconds kPatience{10};

  static zkrecipes::ConnectionOptions options(const std::string& servers, std::chrono::milliseconds lease) {
    zkrecipes::ConnectionOptions options;
    options.servers = servers;
    options.session_timeout = lease;
    return options;
  }

  const std::shared_ptr<zkrecipes::Connection> connection_;
  Recipe recipe_;
  zkrecipes::Hold hold_;
};

}  // namespace comparison
