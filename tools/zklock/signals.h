// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <optional>

#include "tools/zklock/descriptor.h"

namespace zklock {

/// Signals as something to be read. Blocks them for this thread and those that it starts later, so make it before the
/// first Connection. Signals that were ignored stay ignored (nohup).
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int get() const noexcept { return descriptor_.get(); }
  /// The next one that has arrived, if any.
  std::optional<int> next() const;
  /// What was blocked before: for a command that is to be started as if zklock were not there.
  const sigset_t& original_mask() const noexcept { return original_; }

  /// INT, TERM, HUP and QUIT: those that end a program.
  static bool ends(int signal) noexcept;

 private:
  sigset_t original_{};
  Descriptor descriptor_;
};

}  // namespace zklock
