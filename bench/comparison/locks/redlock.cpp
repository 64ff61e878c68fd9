// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/locks/redlock.h"

#include <exception>
#include <utility>

#include "bench/comparison/locks/owner.h"
#include "bench/comparison/locks/polling.h"
#include "bench/comparison/locks/redis_lease.h"

namespace comparison {

using Clock = std::chrono::steady_clock;

Redlock::Redlock(const std::vector<std::string>& endpoints, std::string name, std::chrono::milliseconds lease)
    : name_(std::move(name)), owner_(make_owner()), lease_(lease) {
  for (const std::string& endpoint : endpoints) servers_.push_back(std::make_unique<RedisSession>(endpoint));
}

Redlock::~Redlock() {
  try {
    if (is_held()) release();
  } catch (const std::exception&) {  // it expires
  }
}

void Redlock::acquire() {
  poll_until([this] { return try_majority(); });
}

bool Redlock::try_majority() {
  const auto begin = Clock::now();
  std::size_t granted = 0;
  for (const auto& server : servers_) granted += set_lease(*server, name_, owner_, lease_) ? 1 : 0;
  const auto drift = lease_ / 100 + std::chrono::milliseconds(2);
  const auto valid_until = begin + lease_ - drift;
  if (granted >= quorum() && Clock::now() < valid_until) {
    valid_until_ = valid_until;
    return true;
  }
  // Nobody else could win while we keep a minority; those that refused are asked, too, for their answer may be late.
  release_everywhere();
  return false;
}

bool Redlock::release() {
  valid_until_ = {};
  return release_everywhere() >= quorum();
}

std::size_t Redlock::release_everywhere() {
  std::size_t released = 0;
  for (const auto& server : servers_) released += delete_lease(*server, name_, owner_) ? 1 : 0;
  return released;
}

std::optional<long> Redlock::requests() const noexcept {
  long sum = 0;
  for (const auto& server : servers_) sum += server->commands();
  return sum;
}

}  // namespace comparison
