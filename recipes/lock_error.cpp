// SPDX-License-Identifier: Apache-2.0
#include "recipes/lock_error.h"

#include "zkrecipes/error.h"

namespace zkrecipes::detail {

std::exception_ptr lock_error(Status status, const std::string& path, const Client& client) {
  const std::string lock = "lock " + path + ": ";
  switch (status) {
    case Status::closed:
      return client.closed_error();
    case Status::not_authorized:
      return std::make_exception_ptr(NotAuthorized(
          lock + "the server does not permit it; check the connection's credentials and the ACLs of the path"));
    case Status::no_children_for_ephemerals:
      return std::make_exception_ptr(
          Error(ErrorCode::unusable_path,
                lock + "this path, or a node above it, is an ephemeral node, as that of a SimpleLock that is held, and "
                       "cannot have children; a SimpleLock needs a path of its own, so choose another one for this "
                       "lock"));
    case Status::no_chroot:
      return std::make_exception_ptr(
          Error(ErrorCode::unusable_path, lock + "the chroot of the connection does not exist, and "
                                                 "ConnectionOptions::create_chroot is false; make the chroot, or "
                                                 "correct it in ConnectionOptions::servers"));
    case Status::no_node:
      return std::make_exception_ptr(
          Error(ErrorCode::unusable_path, lock + "the node above the path is missing and cannot be made; if the "
                                                 "program's own handle has a chroot, make that first"));
    case Status::too_many_watches:
      return std::make_exception_ptr(
          Error(ErrorCode::too_many_watches, lock + "too many waiters on one connection; spread them over several"));
    case Status::too_large:
      return std::make_exception_ptr(Error(
          ErrorCode::too_large, lock + "the request is larger than the server accepts (its jute.maxbuffer); use a "
                                       "shorter path, identity or note, or raise the limit"));
    case Status::unsupported:
      return std::make_exception_ptr(
          Error(ErrorCode::unsupported, lock + "the server is too old; ZooKeeper 3.5 or later is needed"));
    case Status::session_over:
      return std::make_exception_ptr(Error(ErrorCode::session_lost, lock + "the session is over"));
    default:
      return std::make_exception_ptr(Error(ErrorCode::rejected, lock + "refused: " + to_string(status)));
  }
}

std::exception_ptr sequence_error(const std::string& path) {
  return std::make_exception_ptr(
      Error(ErrorCode::sequence_exhausted,
            "lock " + path +
                ": the 2^31 sequence numbers of this path are used up and no longer order the queue; "
                "remove the node once nobody uses it, or move to another path"));
}

std::exception_ptr semaphore_error(const std::string& path) {
  return std::make_exception_ptr(
      Error(ErrorCode::unusable_path,
            "lock " + path + ": a Semaphore uses this path (its folder " + path +
                "/leases is there), and the two do not exclude each other; give each a path of its own. If nobody uses "
                "the folder any more, delete it, or wait: the server removes it about a minute after its last use"));
}

std::exception_ptr hidden_folder_error(const std::string& path) {
  return std::make_exception_ptr(
      Error(ErrorCode::unusable_path,
            "lock " + path + ": the node " + path +
                "/leases may not be listed, so it is not known whether a Semaphore uses this path, and the two do not "
                "exclude each other; give this lock a path of its own, or its clients the permission to read that "
                "node"));
}

std::exception_ptr occupied_error(const std::string& path, const std::string& node) {
  return std::make_exception_ptr(
      Error(ErrorCode::unusable_path,
            "semaphore " + path +
                ": a FairMutex or a ReadWriteLock (or a recursive one, or a peer of theirs) uses this path (its node " +
                node + " is there), and the two do not exclude each other; give each a path of its own"));
}

std::exception_ptr permits_error(const std::string& path, int wanted, int permits) {
  return std::make_exception_ptr(
      Error(ErrorCode::too_few_permits, "semaphore " + path + ": an acquire waits for " + std::to_string(wanted) +
                                            " permits, but set_permits() has lowered their number to " +
                                            std::to_string(permits)));
}

}  // namespace zkrecipes::detail
