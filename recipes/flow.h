// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/container/small_vector.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <variant>

#include "connection/client.h"
#include "recipes/grant.h"

namespace zkrecipes::detail {

/// What a request is about, so that its answer finds the part of the flow that asked. A semaphore waits in a line and
/// counts leases, sometimes at the same time, and lists its path; all other recipes know the line only.
enum class Topic { line, leases, path };

/// What happened. Answers are final: the connection resolves lost replies, and the end of the session is an event of
/// its own, so a status here is ok or one that the flow can act on.
namespace event {

/// A session is connected. The first event of each attempt. `guid` is used by this attempt alone.
struct SessionReady {
  std::string guid;
};
/// The answer to Create: ok, node_exists, no_parent or occupied, which has the path of the occupant.
struct Created {
  Topic topic = Topic::line;
  Status status = Status::ok;
  CreatedNode node{};
};
/// The answer to List and WatchChildren: ok or no_node. The watch is set with ok only.
struct Listed {
  Topic topic = Topic::line;
  Status status = Status::ok;
  NameList children{};
  NodeStat stat{};
  bool watched = false;
};
/// The answer to Look.
struct Looked {
  bool there = false;
  NodeStat stat{};
};
/// The answer to WatchNode: ok or no_node. The watch is set with ok only.
struct WatchSet {
  Status status = Status::ok;
  NodeStat stat{};
};
/// A watch has fired, and is gone.
struct Changed {
  Topic topic = Topic::line;
  WatchEvent what = WatchEvent::deleted;
};
/// The answer to RaiseVersion: ok, no_node or bad_version.
struct VersionRaised {
  Status status = Status::ok;
  std::int32_t version = 0;
};
struct TimerFired {
  int id = 0;
};
/// The number of permits of the semaphore is another one from now on. Comes at any time, also between two attempts.
struct PermitsChanged {
  int permits = 0;
};
/// The answer to MakeHold: the hold is made and owns its nodes from now on. The last event of a flow.
struct Granted {};
/// The flow's node was deleted by another client. Also an answer to MakeHold.
struct OwnNodeGone {};
/// The answer to MakeHold when the session's lease has run out, although the session is not known to be over.
struct LeaseOver {};
/// The session of this attempt is over, and its nodes with it. Nothing else of this attempt follows.
struct SessionOver {};
/// The server, or the closed connection, refuses a request for good.
struct Refused {
  Status status = Status::rejected;
  Topic topic = Topic::line;
};
/// Nobody wants the lock any more. The last event of a flow.
struct Left {};

}  // namespace event

using Event =
    std::variant<event::SessionReady, event::Created, event::Listed, event::Looked, event::WatchSet, event::Changed,
                 event::VersionRaised, event::TimerFired, event::PermitsChanged, event::Granted, event::OwnNodeGone,
                 event::LeaseOver, event::SessionOver, event::Refused, event::Left>;

/// What to do. Each topic has at most one watch.
namespace action {

/// Ends the attempt, whose answers are dropped from now on; a node whose creation is answered later is removed.
struct AwaitSession {};
struct Create {
  Topic topic = Topic::line;
  CreateSpec spec;
};
struct List {
  Topic topic = Topic::line;
  std::string path;
};
/// Is the node there?
struct Look {
  std::string path;
};
/// Reads the node and watches it.
struct WatchNode {
  std::string path;
};
/// Lists and watches the children.
struct WatchChildren {
  Topic topic = Topic::line;
  std::string path;
};
struct Unwatch {
  Topic topic = Topic::line;
};
/// Lets the heartbeats ask after the node of a waiter.
struct Probe {
  std::string path;
};
struct Unprobe {};
/// A folder that is not empty stays.
struct Remove {
  std::string path;
  std::int64_t czxid = 0;  ///< of a node whose name is not unique
  bool leftover = false;   ///< not the node of this attempt, but one that nobody needs
};
/// Raises the version of the lock path by writing to it, provided that it has the expected version.
struct RaiseVersion {
  std::string path;
  std::string data;
  std::int32_t expected = 0;
};
/// Writes the data of a node that has the expected version, in one attempt. Nobody needs to know whether that succeeds.
struct Mark {
  std::string path;
  std::string data;
  std::int32_t expected = 0;
};
/// Says that this attempt waits for others. Once for each reason to wait.
struct Wait {
  int queue_position = 0;  ///< contenders ahead
};
/// A timer ends with its attempt.
struct Timer {
  int id = 0;
  std::chrono::milliseconds after{};
};
/// Makes the hold, after renewing the session's lease if that is too old.
struct MakeHold {
  Topic topic = Topic::line;
  Grant grant{};  ///< without client, session, and the part of the cost that is counted by whoever performs this
  /// The turn was inferred, not read: whether our own node is still there has to be checked behind the grant.
  bool check_node = false;
  /// A listing has shown that nobody else wants the lock.
  bool alone = false;
};
/// The end: throw `error`, or what follows from `status` on `path`.
struct Fail {
  Status status = Status::rejected;
  std::string path;
  std::exception_ptr error;
};
/// The end of a try: somebody else has the lock.
struct NotServed {};

}  // namespace action

using Action = std::variant<action::AwaitSession, action::Create, action::List, action::Look, action::WatchNode,
                            action::WatchChildren, action::Unwatch, action::Probe, action::Unprobe, action::Remove,
                            action::RaiseVersion, action::Mark, action::Wait, action::Timer, action::MakeHold,
                            action::Fail, action::NotServed>;
/// In the order in which they are to be performed. Most events have few.
using Actions = boost::container::small_vector<Action, 3>;

/// The ACL of the nodes of one lock, from the settings that its flows share; null: the connection's.
template <class Spec>
AclPtr acl_of(const std::shared_ptr<const Spec>& spec) {
  return spec->options.acl ? AclPtr(spec, &*spec->options.acl) : nullptr;
}

/// A flow may queue up, or only see whether the lock is free.
enum class Patience { queue, try_once };

/// How a recipe gets its lock: given what happened, what to do next. Has no lock, does no I/O, reads no clock and waits
/// for nothing; Acquisition performs the actions and reports the answers.
///
/// An attempt begins with SessionReady and ends with AwaitSession (another attempt follows), MakeHold that is answered
/// by Granted, Fail, NotServed, or after Left. By then the flow has taken back all that the attempt has set up (nodes,
/// watches, probe), except the nodes of a hold that was granted.
class Flow {
 public:
  virtual ~Flow() = default;
  virtual Actions on(const Event& event) = 0;
};

}  // namespace zkrecipes::detail
