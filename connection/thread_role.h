// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace zkrecipes::detail {

/// Says of a thread whether the library depends on it, for as long as this object lives: its loop and its workers do
/// their own work there, and so do threads of the C client that call the library.
///
/// Code of the program can run on such a thread although nobody calls it: the destructor of what a callback owns, when
/// the library has the last reference, or a log sink. A call that waits for the library would wait for itself there.
class ThreadRole {
 public:
  enum class Role { program, library };

  explicit ThreadRole(Role role) noexcept;
  ~ThreadRole();
  ThreadRole(const ThreadRole&) = delete;
  ThreadRole& operator=(const ThreadRole&) = delete;

  /// Whether this thread does the library's work now.
  static bool is_library() noexcept;

 private:
  const Role before_;
};

}  // namespace zkrecipes::detail
