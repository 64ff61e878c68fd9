// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/observer.h"

#include <ostream>

namespace zkrecipes {

Observer::Observer() = default;
Observer::~Observer() = default;

const char* to_string(LockKind kind) noexcept {
  switch (kind) {
    case LockKind::fair:
      return "fair";
    case LockKind::simple:
      return "simple";
    case LockKind::semaphore:
      return "semaphore";
    case LockKind::read_write:
      return "read/write";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, LockKind kind) {
  return out << to_string(kind);
}

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
