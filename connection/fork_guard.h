// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace zkrecipes::detail {

/// Remembers in which process it was made. Threads and sockets do not survive fork() in a usable form, so whatever
/// owns them asks here first. Costs one load.
class ForkGuard {
 public:
  ForkGuard();
  bool in_child() const noexcept;

 private:
  unsigned generation_;
};

}  // namespace zkrecipes::detail
