// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "zkrecipes/connection_options.h"

namespace zkrecipes {

/// Settings of one lock object, checked by its constructor, which throws std::invalid_argument: for a note or a name
/// that is too long, for a name that is not printable, for an ACL that this connection cannot give to nodes
/// (creator_all() without credentials), and for an option that the lock type does not have.
struct LockOptions {
  /// Also count the holds of this lock in 32 bits (FencingToken::version). Not for SimpleLock and Semaphore. A
  /// read/write lock counts its writers; a reader has version 0. Costs one more round trip per acquire and makes the
  /// lock path a persistent node. All users of the path must agree on the option: a lock without it creates a missing
  /// path as a container. Clients cannot tell a container from a persistent node, but the server removes an empty
  /// container, and the count starts again at 0.
  bool version_token = false;

  /// Gives the lock on in one round trip, also deep in the line: a waiter watches the node two places ahead, so it
  /// knows before its turn that it is next. A release then wakes two waiters, the one that gets the lock and the one
  /// that moves up, instead of one. For FairMutex, RecursiveFairMutex, the write side of ReadWriteLock (behind readers;
  /// behind a writer, which may downgrade, it changes nothing) and the line of a Semaphore; not for SimpleLock, which
  /// has no line. Contenders with and without it can stand in one line. Has no effect together with version_token.
  bool look_ahead = false;

  /// How long the lock stays with this object after a release while nobody else wants it; 0: not at all. The next
  /// acquire through this object then takes it over at once, without a request. FairMutex and RecursiveFairMutex only.
  ///
  /// For a lock that one process takes often and others seldom. It is retained only if no other contender was listed
  /// when it was granted. Others see an ordinary holder. A newcomer gets an idle lock two round
  /// trips after it asked, and one that is in use at its release. Until the holder has heard of the newcomer, acquires
  /// through this object may overtake it. The holder does not hear of the tries of others, which never queue: for them
  /// the lock is busy while it stays, and each use through this object begins the time again. So let other users wait
  /// for a moment (try_acquire_for()) instead of trying.
  ///
  /// Between two holds no hold is valid, but the node and its heartbeats stay. Destroying the lock object or closing
  /// the connection removes the node, and so does Hold::release(), which waits for that. A reconnect
  /// ends the retention. If the process dies or is paused, others wait until its session ends, although it held
  /// nothing. Costs one listing, behind the first hold. More than a year counts as a year.
  ///
  /// All holds on one node have the same fencing token. A resource that checks tokens refuses late writes of other
  /// holders as ever, but cannot tell these holds, which are of one lock object, from each other. Not together with
  /// version_token.
  std::chrono::milliseconds retain{0};

  /// Called where on_ready() is, on a thread of the connection or by its executor, when another client asks for the
  /// lock back (request_revoke(), or Curator's Revoker), with the node of the hold. The program may release the hold or
  /// ignore the request. Costs one more request per hold.
  std::function<void(const std::string& node)> on_revoke;

  /// For people: stored in the nodes of this lock beside the identity of the connection, and shown by contenders() as
  /// Contender::note ("order 4711, started by cron"). Any text of at most 64 KiB, line breaks included. A revocation
  /// request overwrites it.
  std::string note;

  /// For metrics: what ConnectionOptions::observer calls this lock. Locks with the same name are counted together. At
  /// most 128 printable ASCII characters. The path is not used in its place, because a program may have any number of
  /// paths ("/orders/4711"), and each name costs a time series. Default: empty, which zkrecipes::prometheus shows as
  /// "unnamed".
  std::string name;

  /// The ACL of the nodes of this lock; default: ConnectionOptions::acl. Missing parents get
  /// ConnectionOptions::parent_acl.
  std::optional<Acl> acl;
};

}  // namespace zkrecipes
