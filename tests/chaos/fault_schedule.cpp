// SPDX-License-Identifier: Apache-2.0
#include "tests/chaos/fault_schedule.h"

#include <stdexcept>
#include <utility>

namespace zkrecipes::testing {

const char* to_string(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::reply_dropped:
      return "reply_dropped";
    case FaultKind::connection_cut:
      return "connection_cut";
    case FaultKind::black_hole:
      return "black_hole";
    case FaultKind::delay:
      return "delay";
    case FaultKind::session_expiry:
      return "session_expiry";
    case FaultKind::server_kill:
      return "server_kill";
    case FaultKind::leader_kill:
      return "leader_kill";
    case FaultKind::rolling_restart:
      return "rolling_restart";
    case FaultKind::client_pause:
      return "client_pause";
    case FaultKind::client_kill:
      return "client_kill";
    case FaultKind::follower_cut_off:
      return "follower_cut_off";
    case FaultKind::leader_deposed:
      return "leader_deposed";
    case FaultKind::lagging_follower:
      return "lagging_follower";
    case FaultKind::smaller_timeout:
      return "smaller_timeout";
    case FaultKind::moved_address:
      return "moved_address";
  }
  return "";
}

FaultKind fault_kind(const std::string& name) {
  for (const FaultKind kind : kFaultKinds)
    if (name == to_string(kind)) return kind;
  throw std::invalid_argument("no such fault: " + name);
}

FaultSchedule::FaultSchedule(std::uint32_t seed, std::vector<FaultKind> kinds)
    : random_(seed), kinds_(std::move(kinds)) {
  if (kinds_.empty()) throw std::invalid_argument("no faults");
}

PlannedFault FaultSchedule::next() {
  if (round_.empty()) {
    round_ = kinds_;
    // By hand: what std::shuffle makes of a seed is up to the library.
    for (std::size_t i = round_.size(); i > 1; --i) std::swap(round_[i - 1], round_[below(static_cast<unsigned>(i))]);
  }
  constexpr std::array kRequests{RequestKind::create,       RequestKind::create,   RequestKind::remove,
                                 RequestKind::get_children, RequestKind::get_data, RequestKind::exists};
  PlannedFault fault{};
  fault.kind = round_.back();
  round_.pop_back();
  fault.client = below(1'000);
  fault.server = below(1'000);
  fault.request = kRequests[below(kRequests.size())];
  fault.severity = static_cast<int>(below(100));
  fault.pause_after = std::chrono::milliseconds(50 + below(200));
  return fault;
}

}  // namespace zkrecipes::testing
