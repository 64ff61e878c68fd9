// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connection/handle.h"
#include "tests/simulation/process.h"
#include "tests/simulation/scheduler.h"
#include "tests/simulation/trace.h"

namespace zkrecipes::simulation {

/// Kinds of trace lines that the ensemble adds.
enum class EnsembleTrace : std::uint32_t {
  fault = 0x100,       ///< a server or link was broken or healed
  election = 0x101,    ///< a leader begins or stops to lead, a follower begins or stops to follow
  session = 0x102,     ///< made, moved, expired or closed
  node = 0x103,        ///< created, changed or deleted, as the leader applies it
  connection = 0x104,  ///< of a client with a server
};

/// What the model is to do wrong. For tests of the checks that hold the model against the real server.
enum class ModelMistake {
  none,
  failed_writes_take_no_zxid,  ///< a write that fails is no transaction
  sequence_counts_children,    ///< a sequence number is the number of children, not the parent's version
  exists_watch_needs_node,     ///< exists() of a missing node leaves no watch
  reply_before_event,          ///< a watch event is delivered behind the reply to the write that fires it
  ephemerals_survive_close,    ///< closing a session leaves its nodes
  sync_needs_quorum,           ///< a leader without quorum does not answer sync
  acks_ahead_of_disk,          ///< a follower that is killed has acknowledged what it loses
};

struct EnsembleOptions {
  int servers = 3;
  std::chrono::milliseconds tick{2000};
  int sync_limit = 5;                                ///< in ticks
  int init_limit = 10;                               ///< in ticks
  std::chrono::milliseconds min_session_timeout{0};  ///< 0: two ticks
  std::chrono::milliseconds max_session_timeout{0};  ///< 0: twenty ticks
  /// Instead of max_session_timeout, one for each server, if not empty.
  std::vector<std::chrono::milliseconds> max_session_timeouts;
  std::size_t max_request_bytes = 0xfffff;  ///< jute.maxbuffer
  std::chrono::milliseconds container_check_interval{60'000};

  // Each is drawn from [least, most] for every message.
  Time least_client_delay = std::chrono::microseconds(100);
  Time most_client_delay = std::chrono::microseconds(600);
  Time least_server_delay = std::chrono::microseconds(80);
  Time most_server_delay = std::chrono::microseconds(400);
  Time least_disk_delay = std::chrono::microseconds(100);
  Time most_disk_delay = std::chrono::milliseconds(2);
  /// From the moment in which a quorum of servers looks for a leader until one is elected.
  Time least_election_delay = std::chrono::milliseconds(200);
  Time most_election_delay = std::chrono::milliseconds(600);
  /// What a client's library takes from the arrival of an answer until its report.
  Time most_report_delay = std::chrono::microseconds(100);

  ModelMistake mistake = ModelMistake::none;
};

/// A model of a ZooKeeper 3.8 ensemble, as far as clients can tell. See the README beside this file for what it models
/// and what it leaves out.
///
/// Servers are counted from 0. All of it runs on the scheduler's thread.
class Ensemble {
 public:
  class Cluster;  ///< its parts

  /// All servers start at once; the first leader is elected as soon as the scheduler runs.
  Ensemble(Scheduler& scheduler, Trace& trace, EnsembleOptions options);
  ~Ensemble();  ///< handles that are still open must be closed before
  Ensemble(const Ensemble&) = delete;
  Ensemble& operator=(const Ensemble&) = delete;

  int size() const;
  const EnsembleOptions& options() const;
  /// "10.0.0.1:2181" for server 0 and so on, until it was moved.
  const std::string& address(int server) const;
  std::vector<std::string> addresses() const;
  /// From now on the server is found there, and nobody at its former address. Connections stay.
  void move_address(int server, const std::string& address);

  // ---- Faults of servers ----

  void kill(int server);  ///< loses what was not on its disk; its connections are reset
  void restart(int server);
  void pause(int server);  ///< its connections stay open, and it does not notice how time passes
  void resume(int server);
  bool is_up(int server) const;  ///< neither dead nor paused
  bool is_paused(int server) const;
  bool is_alive(int server) const;

  // ---- Faults of links ----

  enum class LinkFault {
    none,
    cut,     ///< connections are reset, which both sides notice, and new ones refused
    silent,  ///< nothing passes, which is noticed by time-outs only; what was sent arrives when the link is healed,
             ///< unless the connection has been given up
    slow,    ///< everything arrives later by `extra`
  };
  void set_server_link(int a, int b, LinkFault fault, Time extra = {});
  void set_client_link(int process, int server, LinkFault fault, Time extra = {});
  /// Only what `from` sends to `to` is affected.
  void set_server_link_one_way(int from, int to, LinkFault fault, Time extra = {});
  /// Only what one side sends is affected.
  void set_client_link_one_way(int process, int server, bool to_server, LinkFault fault, Time extra = {});
  /// Heals all links. Servers stay dead, paused or late.
  void heal_links();

  enum class Loss {
    requests,  ///< requests under way to the server are lost, too
    replies,   ///< requests under way to the server arrive and are carried out, the replies are lost
  };
  /// Resets the connections of a process, one of its connections drawn at random if there are several with a session.
  /// False if there is none.
  bool drop_connection(int process, Loss loss);
  /// Resets the connection of the process as soon as the server answers its next write: the write is done, and the
  /// client does not know.
  void lose_next_reply(int process);
  /// The server, while it follows, applies commits later than it could by this much: its clients read old data and wait
  /// longer for their writes. It keeps answering the leader.
  void set_lag(int server, Time lag);

  /// Everything on: links healed, servers resumed and restarted, no lag.
  void heal();

  // ---- What an operator does ----

  /// Deletes the node whatever its version, through the leader if there is one.
  void delete_node(const std::string& path);
  /// Ends the session as if it had timed out, through the leader if there is one.
  void expire_session(std::int64_t session);

  // ---- Inspection ----

  /// The server that leads with the highest epoch, serving clients, or -1. It may have lost its quorum.
  int leader() const;
  /// Whether the leader can commit: it is up, and a quorum follows it over links that work.
  bool has_quorum() const;
  std::int64_t epoch() const;

  struct Node {
    std::string_view path;  ///< valid until the scheduler runs on
    std::string_view data;
    std::int64_t czxid = 0;
    std::int64_t owner = 0;  ///< session; 0 if not ephemeral
    bool container = false;
  };
  /// All nodes that are committed, except "/" and what lies under "/zookeeper", in no order that means anything but the
  /// same for the same seed.
  void for_each_node(const std::function<void(const Node&)>& visit) const;
  std::optional<Node> find_node(std::string_view path) const;
  std::size_t node_count() const;
  std::vector<std::int64_t> sessions() const;  ///< committed, not ended; sorted
  bool has_session(std::int64_t session) const;
  /// The session's time-out as the leader goes by it; 0 if there is no such session.
  std::chrono::milliseconds session_timeout(std::int64_t session) const;

  struct Load {
    std::size_t connections = 0;  ///< client connections, on all servers
    std::size_t watches = 0;      ///< on all servers
    std::size_t messages = 0;     ///< under way
  };
  Load load() const;
  std::uint64_t messages_sent() const;

  /// Called when a node has been created, changed or deleted at the leader, in the order of transactions.
  struct Change {
    enum class Kind { created, changed, deleted } kind;
    std::string_view path;
    std::int64_t zxid = 0;
    std::int64_t owner = 0;
  };
  void on_change(std::function<void(const Change&)> callback);

  /// A client endpoint of that process, which starts connecting to settings.address. Reports are tasks of the process.
  /// The process must outlive the handle.
  std::unique_ptr<detail::Handle> connect(Process& process, const detail::HandleSettings& settings,
                                          const std::weak_ptr<detail::HandleListener>& listener);
  /// To be called when a process has been killed: its sockets are closed by its kernel, its handles are useless.
  /// Process::kill() does not call it.
  void process_died(int process);

 private:
  std::unique_ptr<Cluster> cluster_;
};

}  // namespace zkrecipes::simulation
