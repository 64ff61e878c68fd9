// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "connection/client.h"
#include "recipes/node_name.h"

namespace zkrecipes::detail {

/// Given a listing and my node: do I hold, and if not, which single node do I watch? The whole algorithm of the fair
/// recipes; does no I/O.
struct Verdict {
  enum class Kind {
    holds,
    waits,
    gone,      ///< my node is not in the listing
    overflow,  ///< sequence numbers have run out and order nothing any more
  };
  Kind kind = Kind::gone;
  std::string watch;  ///< the node ahead to watch, when waiting
  int ahead = 0;      ///< how many contenders must go before me
  bool alone = true;  ///< there is no other contender
  /// When `watch` is deleted, nobody can be ahead any more: it is the only one, sequence numbers only grow, and a
  /// parent with children cannot be removed. Not behind a write node: a downgrade replaces that by a read node of the
  /// same number, in front of everybody who waited for it. A read node is not replaced by anything.
  bool proof_by_deletion = false;
  /// With look-ahead, watched instead of `watch`: the node before it. While that node stands, we cannot be first, and
  /// once all nodes up to it are gone, `watch` is the only one ahead, and its deletion is a proof. Empty where it would
  /// be none, or when `watch` is the only one ahead.
  std::string look_past;
  /// There is a folder as of a semaphore's leases.
  bool beside_lease_folder = false;
  std::vector<std::string> strays;  ///< other nodes with my guid: a create that was applied twice
};

/// An exclusive contender (lock, write) waits for all ahead of it and watches the nearest, its predecessor. A reader
/// waits for the writers ahead of it and watches the nearest of those. Foreign children stand in nobody's way.
Verdict judge(const NameList& children, std::string_view mine, NodeKind kind, std::string_view guid);

/// Whether a newcomer of this kind would have to wait.
bool would_wait(const NameList& children, NodeKind kind);

// A Semaphore and a lock with a queue do not see each other's nodes, so both would hold at one path. Each creates first
// and then looks for the other, so of two that begin at the same time at least one sees the other.

/// The child of a semaphore's path that a lock with a queue looks for. The semaphore has it before it has a permit, and
/// for as long as it has one.
constexpr std::string_view kLeaseFolder = "leases";
/// The data of a folder of leases once somebody has seen, after the folder was made, that there was no queue of another
/// kind of lock.
constexpr std::string_view kLeaseFolderMark = "a Semaphore's; no other kind of lock was here when it was made";
/// Whether the folder with this status has the mark. A listing does not contain the data, so their length stands for
/// them. Data of others, such as an operator's note, are no mark.
bool is_marked(const NodeStat& lease_folder);
/// Whether the mark was written a second time, by somebody who saw the first one beside a lease that was there since
/// before he looked for a queue. The first mark alone proves nothing to a semaphore: it may arrive late, when somebody
/// has deleted the lease of the semaphore that sent it, and a lock with a queue has come meanwhile.
bool is_mark_confirmed(const NodeStat& lease_folder);
/// Whether a semaphore is in use at a folder of that name, or was. Other programs use the name, too: theirs has no
/// lease.
///
/// An empty folder without the mark keeps nobody away: a semaphore that is about to have a lease there looks around
/// after that, and sees the node of the contender who asks. One that has had a permit there has sent the mark before it
/// gave its lease back, unless it may not mark the folder; then everybody looks.
bool is_semaphores(const NameList& children, const NodeStat& lease_folder);
/// Those children of a semaphore's path that look like places in the queue of another kind of lock. They are, if they
/// are ephemeral: the folder of some lock may have such a name, too.
std::vector<std::string> queue_nodes(const NameList& children);
/// The same, but none if a semaphore uses the path already: then it is the other lock that is refused.
std::vector<std::string> queue_nodes_without_semaphore(const NameList& children);

/// The contenders among the children, first in line first. Refers to `children`.
std::vector<NodeName> in_queue_order(const NameList& children);
std::vector<NodeName> in_queue_order(const NameList&& children) = delete;

}  // namespace zkrecipes::detail
