// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connection/callback_lane.h"
#include "connection/event_feed.h"
#include "connection/guarded_call.h"
#include "connection/log.h"
#include "connection/node_path.h"
#include "connection/requests.h"
#include "connection/session.h"
#include "connection/slot.h"
#include "connection/timers.h"
#include "connection/world.h"
#include "zkrecipes/connection.h"

namespace zkrecipes::detail {

/// Where the guid stands by which a lost create is found again. In the data, where the path is shared, the guid decides
/// only in a session that several connections share; see NodeClaims.
enum class GuidPlace { in_name, in_data };

/// A node to be made such that it exists exactly once, even if the reply is lost.
struct CreateSpec {
  std::string parent;
  std::string name;  ///< for a sequential node without the number
  std::string guid;  ///< of no other child of `parent`; part of `name` or of `data`
  GuidPlace guid_place = GuidPlace::in_name;
  CreateMode mode = CreateMode::ephemeral_sequential;
  std::string data;
  CreateMode parent_mode = CreateMode::container;  ///< for missing parents
  bool needs_parent = false;                       ///< a missing parent is not made; the answer is `no_parent`
  AclPtr acl{};                                    ///< null: the connection's
  AclPtr parent_acl{};                             ///< of missing parents; null: the connection's
  /// An earlier session may have left a node with this guid in its name: remove it first. Not for in_data, where such
  /// a node is like anybody else's: node_exists until its session ends.
  std::string stale_guid;
  /// If set, it is given the children of `guarded`, an ancestor of the node, before missing parents are made, and names
  /// those that look like nodes of another kind of lock. If one of them is ephemeral, no parent is made and the answer
  /// is `occupied`, with the path of that child. `guarded` may be missing, too, and is not occupied then.
  std::vector<std::string> (*suspects)(const NameList& children) = nullptr;
  std::string guarded{};
  /// Called with the path of each such node that was removed. May be null.
  std::function<void(const std::string&)> on_stale_removed{};
};

struct CreatedNode {
  std::string path;
  NodeStat stat;
  bool recovered = false;    ///< its own reply was lost
  bool made_parent = false;  ///< its parent was missing and is known to be made for it; false if that reply was lost
};

using WatchId = std::uint64_t;  // 0: none
using ProbeId = std::uint64_t;  // 0: none
using AwaitId = std::uint64_t;  // 0: none

/// What recipes need of ZooKeeper. Thread-safe and asynchronous.
///
/// Every call ends in exactly one completion, also when the session is lost or the connection closed; never on the
/// calling thread, and with no lock of the library held. Lost connections and lost replies are resolved here: a
/// completion is a final answer. Each request belongs to a session and ends with session_over when that is over;
/// while the session is suspended, requests wait.
class Client {
 public:
  virtual ~Client() = default;

  /// Null while there is none.
  virtual SessionPtr current_session() const = 0;
  /// Whether requests pass now. Cheap.
  virtual bool is_connected() const noexcept = 0;
  using SessionHandler = std::function<void(Status, SessionPtr)>;
  /// Completes with ok and a session as soon as one is connected, or with closed.
  virtual AwaitId await_session(SessionHandler done) = 0;
  /// Blocks while a new connection makes its first attempt to reach the servers, each of them once, but not longer than
  /// until two seconds after the connection was made. An interruption point of Boost.Thread if it waits.
  virtual void wait_for_first_attempt() = 0;
  /// Completes as soon as the connection is not up, or closed; at once, on a thread of the library, if it is not now.
  virtual AwaitId await_disconnect(std::function<void()> done) = 0;
  /// Afterwards `done` is not called any more, unless that has already begun or is about to.
  virtual void cancel_await(AwaitId id) = 0;

  using CreateHandler = std::function<void(Status, CreatedNode)>;
  /// Makes missing parents, too. node_exists only for non-sequential nodes.
  virtual void create(const SessionPtr& session, CreateSpec spec, CreateHandler done) = 0;

  /// Tries until the node is gone, its session is over or the server refuses for good; also when nobody waits for it.
  /// A path that others use, too (no guid in its name) needs the czxid of our node: after a lost reply the node there
  /// may be somebody else's. 0: the name is unique.
  virtual void remove(const SessionPtr& session, const std::string& path, std::int64_t czxid,
                      std::function<void(Status)> done) = 0;
  /// The same for a node that nobody holds or waits with, of which the observer hears.
  virtual void remove_leftover(const SessionPtr& session, const std::string& path, std::int64_t czxid) = 0;

  /// Removes a node of another session, if it is still the one with this czxid, and its data have this version (-1:
  /// any). Completes with ok, no_node if there was none, bad_version if another node stands there, or other data, or a
  /// refusal of the server. See remove_exactly().
  virtual void remove_exactly(const SessionPtr& session, const std::string& path, std::int64_t czxid,
                              std::int32_t version, std::function<void(Status)> done) = 0;

  virtual void exists(const SessionPtr& session, const std::string& path, ReplyHandler done) = 0;
  virtual void get(const SessionPtr& session, const std::string& path, ReplyHandler done) = 0;
  virtual void list(const SessionPtr& session, const std::string& path, ReplyHandler done) = 0;
  virtual void sync(const SessionPtr& session, const std::string& path, ReplyHandler done) = 0;
  /// `version`: the one expected, or -1.
  virtual void set(const SessionPtr& session, const std::string& path, std::string data, std::int32_t version,
                   ReplyHandler done) = 0;
  /// The same in one attempt, whose outcome nobody hears of. Never repeated: by the time of a repetition another node
  /// of the same version may stand there.
  virtual void set_once(const SessionPtr& session, const std::string& path, std::string data, std::int32_t version) = 0;

  /// get, and on ok `event` is called once at the node's next change, unless the session is over or unwatch() was
  /// called first. The event comes after `done`.
  virtual WatchId watch_node(const SessionPtr& session, const std::string& path, WatchHandler event,
                             ReplyHandler done) = 0;
  /// list, and the same for the node's children.
  virtual WatchId watch_children(const SessionPtr& session, const std::string& path, WatchHandler event,
                                 ReplyHandler done) = 0;
  /// Afterwards the event is not called any more, unless that has already begun. The watch is taken off the server.
  virtual void unwatch(WatchId watch) = 0;

  /// Lets the heartbeats ask after a node of this session, so that `gone` is called (once) when somebody else has
  /// deleted it. With a node that holds, they also renew the session's lease. A path that others use, too, needs the
  /// czxid of our node: another one may stand there by then.
  virtual ProbeId probe(const SessionPtr& session, const std::string& path, NodeRole role, std::int64_t czxid,
                        std::function<void()> gone) = 0;
  virtual void unprobe(ProbeId probe) = 0;

  /// Renews the session's lease now, with a request about a node of ours. Completes with ok when the node is there,
  /// no_node when it is not.
  virtual void prove(const SessionPtr& session, const std::string& node, std::function<void(Status)> done) = 0;

  /// Runs on a thread of the library, for short work; dropped when the connection is destroyed.
  virtual TimerId run_at(Clock::time_point time, std::function<void()> task) = 0;
  /// Afterwards the task is not started any more. It may be running.
  virtual void cancel_timer(TimerId id) = 0;
  /// Null when nobody observes.
  virtual const std::shared_ptr<Observer>& observer() const = 0;
  /// Not while holding a mutex: see Log.
  virtual const LogPtr& log() const = 0;
  /// Time, chance and threads for whatever is built on this.
  virtual World& world() const = 0;
  // Lanes of their own for user callbacks, so that a slow on_ready() cannot delay the news of a lost hold. Both take
  // tasks after the close, too; the caller keeps the client alive until they have been run or handed over.
  virtual CallbackLane& callbacks() = 0;  ///< on_ready() and on_revoke
  virtual CallbackLane& notices() = 0;    ///< lost holds
  virtual const std::string& identity() const = 0;
  /// Throws std::invalid_argument if this connection cannot make nodes with this ACL. `name`: of the option.
  virtual void check_acl(const Acl& acl, const std::string& name) const = 0;

  /// Throws if the caller may not begin anything: closed (ConnectionClosed, NotAuthorized), in the child of a fork.
  virtual void check_usable() const = 0;
  /// Also throws std::logic_error on the threads of user callbacks.
  virtual void check_may_block() const = 0;
  /// The exception for Status::closed.
  virtual std::exception_ptr closed_error() const = 0;
  /// True in the child of a fork, where nothing may be touched.
  virtual bool in_forked_child() const noexcept = 0;
};

}  // namespace zkrecipes::detail

namespace zkrecipes {
std::shared_ptr<detail::Client> client_of(Connection& connection);
}
