// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/observer.h"

#include <ostream>

namespace zkrecipes {

Observer::Observer() = default;
Observer::~Observer() = default;

const char* to_string(LossReason reason) noexcept {
  switch (reason) {
    case LossReason::lease_over:
      return "lease over";
    case LossReason::session_expired:
      return "session expired";
    case LossReason::node_deleted:
      return "node deleted";
    case LossReason::connection_closed:
      return "connection closed";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, LossReason reason) {
  return out << to_string(reason);
}

}  // namespace zkrecipes
