// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "tests/support/history.h"

namespace zkrecipes::testing {

/// The rule by which a history is judged.
///
/// A hold counts from the time of its ok up to, and without, the earliest of
/// - its release: the time at which the process still held and began to release,
/// - its lost: the time at which its validity ended by the process's own clock,
/// - the death of its process; but if the process recorded how long the hold was valid, no longer than that, for a
///   process that was paused and then killed had no chance to write down its loss.
/// A hold without any of these counts to the end of the history.
///
/// So a holder that was paused beyond its validity, and acts without looking, is not a violation of `mutex`: it
/// knew when its hold would end. Only a resource that looks at tokens can keep it out, and that is `fenced_mutex`.
///
/// - mutex: no two holds overlap.
/// - fenced_mutex: that; each hold has a token; tokens grow strictly in the order of the grants (for a queue in which
///   the token is the czxid of the node, that is first come, first served); and tokens of accepted writes never go
///   back, in the order in which the resource wrote them down.
/// - retained_mutex: the same, but consecutive holds of one process may have the same token (LockOptions::retain). The
///   threads of a process have its name, a dot and a number.
/// - read_write: a write hold overlaps no other hold; tokens of write holds grow strictly in the order of their
///   grants. A downgrade keeps the token.
/// - semaphore: no more holds than permits at any time.
///
/// In every model: an operation is invoked once, before anything else happens to it; it ends once; nobody releases or
/// loses what was not granted. An operation that ended unknown stays open: it may hold or not, so it contradicts
/// nothing, and releasing it is fine. An operation without any end (its process died, or the run was over) likewise.
enum class LockModel { mutex, fenced_mutex, retained_mutex, read_write, semaphore };

struct Violation {
  std::string rule;
  History events;  ///< those that contradict each other
};

struct Verdict {
  std::vector<Violation> violations;
  long grants = 0;
  long failures = 0;
  long unknown = 0;
  long lost = 0;  ///< holds that ended by loss or death
  long writes = 0;

  bool accepted() const noexcept { return violations.empty(); }
};

/// The verdict in figures, then the violations, the first few of them in full.
std::ostream& operator<<(std::ostream& out, const Verdict& verdict);

/// `permits` is for the semaphore only. Throws std::invalid_argument if it is below 1.
Verdict check_history(const History& history, LockModel model, int permits = 1);

/// Only the operations that have ended, and all writes. For a history that is still being written, where the end of a
/// hold may be on its way while the next grant is already there.
History ended_operations(const History& history);

/// How long the slowest acquire that was granted after `since` had to wait from then on, in nanoseconds; an acquire
/// that was still waiting at `until` counts as well.
std::int64_t longest_wait(const History& history, std::int64_t since, std::int64_t until);

}  // namespace zkrecipes::testing
