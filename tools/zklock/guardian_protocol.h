// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zklock {

enum class OnLost { term, kill, ignore };

/// What the guardian knows from its beginning.
struct GuardianSettings {
  std::vector<std::string> command;
  sigset_t original_mask{};   ///< of signals, for the command
  bool ignores_pipe = false;  ///< SIGPIPE, as zklock did when it was started
  OnLost on_lost = OnLost::term;
  /// From TERM to KILL, if that was asked for. Otherwise it is SharedLease::grace when the lock is lost, and
  /// kKillAfter when the command is ended for another reason.
  std::optional<std::chrono::milliseconds> kill_after;
};

inline constexpr std::chrono::milliseconds kKillAfter{10'000};

/// In memory that zklock and the guardian share. zklock moves `valid_until` on; if it does not, because it was stopped
/// or hangs, the guardian ends the command without it.
struct SharedLease {
  /// Until when the lock is held for certain, in nanoseconds of BootClock.
  std::atomic<std::int64_t> valid_until{INT64_MAX};
  /// How many milliseconds a command has after that to end by itself. For twice that time it is certain that the
  /// servers give the lock to nobody else.
  std::atomic<std::int64_t> grace{0};
};

/// From zklock to the guardian, as the first byte of a packet. The end of the packets means that zklock has died.
enum class Order : char {
  start = 's',   ///< a second byte '1' gives the command the terminal; then "NAME=value" strings, each ending in NUL
  signal = 'k',  ///< a second byte: the number, for the process group of the command
  lost = 'l',    ///< the lock is lost
  end = 'e',     ///< TERM, and KILL after a while
  finish = 'f',  ///< the command has ended: end what it has left, daemons with a second byte '1', and report `clean`
  done = 'd',    ///< end without ending anybody
};

/// From the guardian to zklock.
struct Report {
  enum class Kind : std::int32_t {
    started,      ///< value: process id
    not_started,  ///< value: errno
    too_late,     ///< the lease had run out before the command was started, so it was not
    ended,        ///< value: as from waitpid()
    stopped,      ///< value: the signal
    lease_over,   ///< the lease ran out, as far as the guardian knows, and the command is being ended
    leftovers,    ///< value: how many processes the command has left and that are being ended
    clean,        ///< none is left
  };
  Kind kind{};
  std::int32_t value = 0;
};

}  // namespace zklock
