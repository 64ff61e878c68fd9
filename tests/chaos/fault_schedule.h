// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/zookeeper_frames.h"

namespace zkrecipes::testing {

enum class FaultKind {
  reply_dropped,    ///< the server applies a request, its reply is lost and the connection cut
  connection_cut,   ///< of all connections of a client process, by FIN or RST
  black_hole,       ///< shorter than the session
  delay,            ///< each way
  session_expiry,   ///< a black hole for longer than the session
  server_kill,      ///< a follower, and its restart
  leader_kill,      ///< and its restart
  rolling_restart,  ///< of all servers, one after the other
  client_pause,     ///< SIGSTOP for longer than the session, then SIGCONT
  client_kill,      ///< kill -9; another process takes its place
  // of the links between servers; the links of the clients stay
  follower_cut_off,  ///< a follower hears nothing from the others for longer than a session, and answers reads
  leader_deposed,    ///< the leader loses its quorum, which elects another one, and may not notice for a while
  lagging_follower,  ///< what the leader sends reaches a follower late
  // of where a client finds the servers
  smaller_timeout,  ///< a client has to move to the server with the smallest maximal session timeout, and is cut off
                    ///< there
  moved_address,    ///< behind the addresses that a client knows there are other servers than before
};
inline constexpr std::array kFaultKinds{
    FaultKind::reply_dropped,    FaultKind::connection_cut,  FaultKind::black_hole,       FaultKind::delay,
    FaultKind::session_expiry,   FaultKind::server_kill,     FaultKind::leader_kill,      FaultKind::rolling_restart,
    FaultKind::client_pause,     FaultKind::client_kill,     FaultKind::follower_cut_off, FaultKind::leader_deposed,
    FaultKind::lagging_follower, FaultKind::smaller_timeout, FaultKind::moved_address};

const char* to_string(FaultKind kind) noexcept;
/// Throws std::invalid_argument.
FaultKind fault_kind(const std::string& name);

struct PlannedFault {
  FaultKind kind;
  unsigned client;      ///< which process is hit, of those that there are
  unsigned server;      ///< which member, likewise
  RequestKind request;  ///< for reply_dropped
  int severity;         ///< 0..99: how long, how much, in which way
  std::chrono::milliseconds pause_after;
};

/// The same seed and kinds give the same faults in the same order for ever. In rounds: each round has every kind once.
class FaultSchedule {
 public:
  FaultSchedule(std::uint32_t seed, std::vector<FaultKind> kinds);
  PlannedFault next();

 private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  std::mt19937 random_;
  const std::vector<FaultKind> kinds_;
  std::vector<FaultKind> round_;
};

}  // namespace zkrecipes::testing
