// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tools/zklock/descriptor.h"
#include "tools/zklock/guardian_protocol.h"
#include "tools/zklock/process_tree.h"

namespace zklock {

/// A small process between zklock and the command. It starts the command, and it ends the command and everything that
/// the command has started, daemons included, when zklock dies in whatever way, or when the lease runs out while zklock
/// is stopped. The kernel's own PR_SET_PDEATHSIG reaches only the command itself, so that is its second line: for the
/// case that somebody kills the guardian.
///
/// It also has no other threads, so that it can fork safely while zklock has those of its connection. Make it before
/// the first Connection, with the signals blocked (Signals).
class Guardian {
 public:
  explicit Guardian(const GuardianSettings& settings);
  ~Guardian();  ///< stop()
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  /// Readable when next() has something.
  int get() const noexcept { return socket_.get(); }
  /// Throws Failure(kFailure) if the guardian was killed; then nothing of the command is left.
  std::optional<Report> next();

  // Each returns at once; the answers are reports. A guardian that is stopped does not read; what no longer fits into
  // its socket is dropped, where that is safe: a signal; and lost() and end(), after which the caller waits for a
  // limited time, then calls kill(). The others throw std::system_error.
  void start(const std::vector<std::string>& environment, bool with_terminal);
  void pass_on(int signal);
  void lost() { order(Order::lost); }
  void end() { order(Order::end); }
  void finish(bool also_daemons) { order(Order::finish, also_daemons ? "1" : "0"); }
  void done() { order(Order::done); }

  /// Whether somebody has stopped it (SIGSTOP), so that it does nothing.
  bool is_stopped() const noexcept;

  /// Ends what is left of the command, unless that may stay (Report::clean), and waits for the guardian; if that is
  /// stopped, or takes long, by force.
  void stop() noexcept;
  /// The same by force at once, for a guardian that does not do its work.
  void kill() noexcept;

  /// Any thread may move it on.
  SharedLease& lease() noexcept { return *lease_; }

 private:
  void order(Order order, const std::string& rest = {});

  SharedLease* lease_ = nullptr;
  // From before the exec of zklock, so not ours to end, nor what is below them. What one of them starts later, and
  // leaves behind when it ends, comes to us and is not known.
  const std::vector<Process> inherited_;
  Descriptor socket_;
  pid_t process_ = 0;  // 0: reaped
  bool started_ = false;
  bool clean_ = false;  // so it was reported
};

}  // namespace zklock
