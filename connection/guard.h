// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "connection/outbox.h"

namespace zkrecipes::detail {

/// The owner of the parts of a connection. The parts have no mutex of their own: the owner's guards them all.
class Guard {
 public:
  using Work = std::function<void(Outbox&)>;

  virtual ~Guard() = default;
  /// Calls `work` with the mutex held and then, without it, what `work` has put into the outbox. For threads of the
  /// library: completions run inside.
  virtual void run_guarded(const Work& work) = 0;
};

using GuardPtr = std::weak_ptr<Guard>;

/// The way back into a connection for work that a part of it does later. Does nothing when the connection no longer
/// exists, so `work` may refer to parts of it.
inline void run_guarded(const GuardPtr& guard, const Guard::Work& work) {
  if (const auto owner = guard.lock()) owner->run_guarded(work);
}

inline std::function<void()> guarded(GuardPtr guard, Guard::Work work) {
  return [guard = std::move(guard), work = std::move(work)] { run_guarded(guard, work); };
}

}  // namespace zkrecipes::detail
