// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace comparison {

using Milliseconds = std::chrono::duration<double, std::milli>;

/// The holder was killed while another one waited.
struct Death {
  std::optional<Milliseconds> freed_after;
  Milliseconds watched{};  ///< for how long, if it was not freed
};

/// The holder was stopped just before it wrote, and woken when the other one had written, or had waited long enough.
struct Pause {
  bool two_holders = false;  ///< the other one was granted the lock before the first one wrote
  bool refused = false;      ///< the store refused the late write
  bool lost = false;         ///< of two updates one is not in the store
  Milliseconds watched{};    ///< how long the other one waited, if it was not granted the lock
};

/// The servers failed under a holder while another one waited.
struct Failure {
  bool tried = false;
  std::string what;  ///< happened to the servers
  std::optional<Milliseconds> next_after;
  bool first_believes = false;  ///< the first still believed to hold: when the next was granted it, or at the end
};

/// Waiting when all is well.
struct Waiting {
  std::vector<Milliseconds> wake_ups;         ///< from release to grant
  std::vector<std::vector<int>> rounds;       ///< in each, the contenders as served; they had arrived as 0, 1, 2 ...
  std::vector<std::int64_t> tokens;           ///< in order of the grants; empty if there are none
  std::optional<double> requests_per_second;  ///< of one waiter
  double requests_per_second_holding = 0;     ///< of one holder: renewals of its lease
};

struct RowResult {
  std::string title;
  Death death;
  Pause pause;
  Failure failure;
  Waiting waiting;
};

// Texts for people.
std::string describe(const Death& death);
std::string describe_holders(const Pause& pause);
std::string describe_update(const Pause& pause);
std::string describe(const Failure& failure);
std::string describe_waking(const Waiting& waiting);  ///< polling or event
std::string describe_delay(const Waiting& waiting);
std::string describe_order(const Waiting& waiting);
std::string describe_token(const Waiting& waiting);
std::string describe_requests(const Waiting& waiting);

/// Two or three sentences over all rows.
std::string conclusion(const std::vector<RowResult>& rows);

}  // namespace comparison
