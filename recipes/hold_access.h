// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "zkrecipes/acquire_result.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/pending_hold.h"

namespace zkrecipes::detail {

/// How the recipes make what their users hold, and look into it.
class HoldAccess {
 public:
  static Hold hold(std::shared_ptr<HeldNode> node) noexcept { return Hold(std::move(node)); }
  /// Null for an empty hold.
  static const std::shared_ptr<HeldNode>& node(const Hold& hold) noexcept { return hold.node_; }
  static AcquireResult result(Hold hold) noexcept { return {AcquireStatus::granted, std::move(hold), nullptr, {}}; }
  /// Without a hold. `error`: with AcquireStatus::failed. `path`: of the lock, for messages.
  static AcquireResult result(AcquireStatus status, std::exception_ptr error, std::string path) noexcept {
    return {status, Hold(), std::move(error), std::move(path)};
  }
  static PendingHold pending(std::shared_ptr<Acquisition> acquisition) noexcept {
    return PendingHold(std::move(acquisition));
  }
};

}  // namespace zkrecipes::detail
