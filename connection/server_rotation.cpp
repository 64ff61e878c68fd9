// SPDX-License-Identifier: Apache-2.0
#include "connection/server_rotation.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace zkrecipes::detail {

namespace {

// An attempt that is cut off too early on a loaded machine would never succeed.
constexpr std::chrono::milliseconds kLeastPatience{500};

void shuffle(std::vector<std::string>& addresses, World& world) {
  for (std::size_t left = addresses.size(); left > 1; --left)
    std::swap(addresses[left - 1], addresses[static_cast<std::size_t>(world.random() * static_cast<double>(left))]);
}

bool has(const std::vector<std::string>& addresses, const std::string& address) {
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

}  // namespace

ServerRotation::ServerRotation(const RetryPolicy& policy, World& world) : world_(world), backoff_(policy) {}

void ServerRotation::restart(const std::vector<std::string>& addresses) {
  replace(addresses);
  accepted();
}

bool ServerRotation::contains(const std::string& address) const {
  return has(addresses_, address);
}

bool ServerRotation::has_other_than(const std::string& address) const {
  return addresses_.size() > 1 || (!addresses_.empty() && addresses_.front() != address);
}

void ServerRotation::replace(const std::vector<std::string>& addresses) {
  std::vector<std::string> order;
  for (const std::string& address : addresses)
    if (!has(addresses_, address) && !has(order, address)) order.push_back(address);
  shuffle(order, world_);
  const std::size_t added = order.size();
  // Behind the new ones the known ones, beginning with the one whose turn it is.
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const std::string& known = addresses_[(next_ + i) % addresses_.size()];
    if (has(addresses, known)) order.push_back(known);
  }
  if (added == 0 && order.size() == addresses_.size()) return;
  addresses_ = std::move(order);
  next_ = 0;
  failures_ = 0;
}

const std::string& ServerRotation::next() {
  if (addresses_.size() > 1 && addresses_[next_ % addresses_.size()] == current_) ++next_;
  current_ = addresses_[next_ % addresses_.size()];
  next_ = (next_ + 1) % addresses_.size();
  return current_;
}

void ServerRotation::add(const std::vector<std::string>& addresses) {
  std::vector<std::string> all = addresses_;
  all.insert(all.end(), addresses.begin(), addresses.end());
  replace(all);
}

void ServerRotation::accepted() {
  failures_ = 0;
  backoff_.reset();
}

std::chrono::milliseconds ServerRotation::failed(std::chrono::milliseconds at_most) {
  ++failures_;
  if (!addresses_.empty() && failures_ % addresses_.size() != 0) return std::chrono::milliseconds::zero();
  return std::min(backoff_.next(world_.random()), at_most);
}

std::chrono::milliseconds ServerRotation::session_lost() {
  return backoff_.next(world_.random());
}

std::chrono::milliseconds ServerRotation::patience(std::chrono::milliseconds session_timeout) const {
  const std::size_t rounds = addresses_.empty() ? 0 : failures_ / addresses_.size();
  const auto wanted = session_timeout / 6 * (1 << std::min<std::size_t>(rounds, 2));
  return std::max(kLeastPatience, std::min<std::chrono::milliseconds>(wanted, session_timeout * 2 / 3));
}

}  // namespace zkrecipes::detail
