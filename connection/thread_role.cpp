// SPDX-License-Identifier: Apache-2.0
#include "connection/thread_role.h"

#include <utility>

namespace zkrecipes::detail {

namespace {
thread_local ThreadRole::Role current_role = ThreadRole::Role::program;
}

ThreadRole::ThreadRole(Role role) noexcept : before_(std::exchange(current_role, role)) {}

ThreadRole::~ThreadRole() {
  current_role = before_;
}

bool ThreadRole::is_library() noexcept {
  return current_role == Role::library;
}

}  // namespace zkrecipes::detail
