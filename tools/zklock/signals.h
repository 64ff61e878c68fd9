// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <optional>
#include <sys/types.h>

#include "tools/zklock/descriptor.h"

namespace zklock {

/// Signals as something to be read. Blocks them for this thread and those that it starts later, so make it before the
/// first Connection. Signals that were ignored stay ignored (nohup).
class Signals {
 public:
  /// Whether Ctrl-Z (SIGTSTP) stops this process as usual, or is one of the signals to be read.
  enum class Stop { as_usual, to_be_read };

  explicit Signals(Stop stop = Stop::as_usual);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int get() const noexcept { return descriptor_.get(); }
  /// The next one that has arrived, if any.
  std::optional<int> next() const;
  /// The next one that ends a program, if any; for somebody who has no other use for signals. Stops this process at
  /// SIGTSTP.
  std::optional<int> next_that_ends() const;
  /// As SIGTSTP does by default, for this process or, with 0, for its process group: goes on here when somebody
  /// continues it. Where no shell could do so (ssh -t host zklock run ...), the kernel drops the signal, and this
  /// returns at once. For Stop::to_be_read.
  static void stop(pid_t whom);
  /// What was blocked before: for a command that is to be started as if zklock were not there.
  const sigset_t& original_mask() const noexcept { return original_; }

  /// INT, TERM, HUP and QUIT: those that end a program.
  static bool ends(int signal) noexcept;
  /// Ends this process by the signal, so that a shell sees that. Returns if the signal is ignored.
  static void end_by(int signal) noexcept;

 private:
  sigset_t original_{};
  Descriptor descriptor_;
};

}  // namespace zklock
