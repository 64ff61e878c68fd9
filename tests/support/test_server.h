// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testkit/test_server_process.h"

namespace zkrecipes::testing {

/// The value of ZKRECIPES_TEST_SERVERS, if it is set: tests then use these servers ("host:port,host:port") and start
/// none. TestServer and TestEnsemble then know addresses only; every other verb throws std::logic_error, so a test that
/// needs one skips itself first.
std::optional<std::string> external_servers();

using testkit::TestServerProcess;

struct ServerOptions {
  /// Sessions last two ticks or more; the default allows 400 ms.
  std::chrono::milliseconds tick_time{200};
  std::optional<std::chrono::milliseconds> min_session_timeout;  ///< two ticks
  std::optional<std::chrono::milliseconds> max_session_timeout;  ///< one minute
  /// One for each member, instead of max_session_timeout.
  std::vector<std::chrono::milliseconds> max_session_timeouts;
  /// In ticks: how long a member that receives nothing from the leader continues to serve, and a leader that receives
  /// nothing from its quorum continues to lead. Five seconds if not given, but not less than five ticks.
  std::optional<int> sync_limit;
  /// In ticks: how long joining a leader may take. Ten seconds if not given, but not less than ten ticks.
  std::optional<int> init_limit;
  /// How often empty container nodes are removed. One minute if not given.
  std::optional<std::chrono::milliseconds> container_check_interval;
  /// The largest packet. ZooKeeper fixes it for a whole process, so giving it implies own_process.
  std::optional<int> jute_max_buffer;
  /// A process of its own, which takes half a second more: pausing it leaves other servers alone.
  bool own_process = false;
  /// Links between members can be cut, frozen and delayed. Each packet then takes a detour of some 50 us.
  bool controlled_links = false;
  /// Each member in a process of its own, which can be paused and is really killed. Takes a second more, and implies
  /// controlled_links. The process of TestEnsemble::process() is then that of the links.
  bool process_per_member = false;
};

/// The counters of one member, or their sums over all members; sessions and nodes are replicated and counted once.
struct ServerInfo {
  int running = 0;  ///< members that serve clients
  int watches = 0;
  int connections = 0;
  int sessions = 0;
  int nodes = 0;
  int ephemerals = 0;
  long packets_received = 0;
  long packets_sent = 0;
  long outstanding = 0;
};

/// Reads the answer to the command "info".
ServerInfo parse_server_info(const std::string& reply);

class MemberProcesses;

/// Several servers that elect a leader; serving when the constructor returns. Destroyed: stopped, and the
/// data removed. Members are counted from 0. Each verb returns when what it says has happened. Thread-safe.
class TestEnsemble {
 public:
  explicit TestEnsemble(int servers = 3, const ServerOptions& options = {});
  ~TestEnsemble();
  TestEnsemble(const TestEnsemble&) = delete;
  TestEnsemble& operator=(const TestEnsemble&) = delete;

  int size() const noexcept { return static_cast<int>(addresses_.size()); }
  std::string addresses() const;  ///< "host:port,host:port,..."
  const std::string& address(int member) const { return addresses_.at(static_cast<std::size_t>(member)); }

  int leader();                  ///< waits until there is one; of two, the one elected last
  int leader_after(int former);  ///< waits until another member leads
  void stop(int member);         ///< in order; the sessions live on, and time out if it does not return
  void kill(int member);         ///< clients see a reset, replies under way are lost
  int kill_leader();             ///< returns which member it was
  /// Stopped first if it runs; the same data, the same port. On return it serves, unless there is no quorum
  /// yet.
  void restart(int member);
  void stop_all();
  void restart_all();

  // ---- Links between members, with ServerOptions::controlled_links. Links to clients are not touched. ----

  bool has_controlled_links() const noexcept { return controlled_links_; }

  /// Connections are reset and new ones fail, so both sides know at once: a follower without leader and a leader
  /// without quorum stop serving.
  void cut_link(int a, int b);
  /// Connections stay open and nothing passes, so neither side knows before sync_limit ticks: until then a follower
  /// continues to answer reads, and a leader continues to lead.
  void freeze_link(int a, int b);
  /// Everything passes later by that much, in both directions: a follower lags behind its leader.
  void delay_link(int a, int b, std::chrono::milliseconds delay);
  void heal_link(int a, int b);
  void isolate(int member);           ///< cuts all its links
  void isolate_silently(int member);  ///< freezes all its links
  /// The others see its links cut, the member itself sees them frozen: they elect another leader at once while it
  /// continues for sync_limit ticks.
  void isolate_unnoticed(int member);
  /// Heals all links; what was held back passes at once. On return every running member serves under one leader.
  void heal();

  // ---- With ServerOptions::process_per_member ----

  /// Connections stay open, nobody answers, and the member does not notice how time passes. A paused member does not
  /// count as running.
  void pause_member(int member);
  void resume_member(int member);

  /// As if the session had timed out. On return every running member has removed it and its ephemeral nodes, except
  /// those that the leader does not reach; with process_per_member, the leader has.
  void expire_session(std::int64_t session_id);

  ServerInfo info(int member) const;
  ServerInfo info() const;

  TestServerProcess& process() const;

 private:
  std::string command(const std::string& verb, const std::string& arguments = {}) const;
  void set_link(int a, int b, const std::string& fate);
  void start_member_processes(int servers, const ServerOptions& options);
  std::vector<int> all_members() const;

  // constant after construction
  std::unique_ptr<TestServerProcess> own_process_;
  TestServerProcess* process_ = nullptr;  // null with external servers
  std::string id_;
  std::vector<std::string> addresses_;
  bool controlled_links_ = false;
  std::unique_ptr<MemberProcesses> member_processes_;  // null unless each member has a process of its own
};

/// One server, with the same promises as TestEnsemble.
class TestServer {
 public:
  explicit TestServer(const ServerOptions& options = {}) : servers_(1, options) {}

  /// "host:port"; with external servers the whole list.
  std::string address() const { return servers_.addresses(); }

  void stop() { servers_.stop(0); }
  void kill() { servers_.kill(0); }
  void restart() { servers_.restart(0); }
  void expire_session(std::int64_t session_id) { servers_.expire_session(session_id); }
  ServerInfo info() const { return servers_.info(); }
  TestServerProcess& process() const { return servers_.process(); }

 private:
  TestEnsemble servers_;
};

}  // namespace zkrecipes::testing
