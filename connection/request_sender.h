// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "connection/log.h"
#include "connection/requests.h"
#include "connection/session.h"
#include "connection/world.h"

namespace zkrecipes::detail {

/// Sends single requests; what create, remove and set are built on. Paths are the server's: with chroot.
class RequestSender {
 public:
  virtual ~RequestSender() = default;

  /// One attempt, made as soon as the session is connected. connection_loss: the outcome is unknown.
  virtual void send(const SessionPtr& session, Request request, ReplyHandler done) = 0;
  /// For what may be repeated: sent again until there is an answer.
  virtual void send_until_answered(const SessionPtr& session, Request request, ReplyHandler done) = 0;
  virtual void run_after(std::chrono::milliseconds delay, std::function<void()> task) = 0;
  virtual const RetryPolicy& retry_policy() const = 0;
  virtual World& world() const = 0;
  virtual const LogPtr& log() const = 0;
};

}  // namespace zkrecipes::detail
