// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/semaphore.h"

#include <stdexcept>
#include <utility>

#include "recipes/lock_core.h"
#include "recipes/semaphore_ticket.h"

namespace zkrecipes {

Semaphore::Semaphore(Connection& connection, std::string path, int permits, LockOptions options) {
  if (permits < 1)
    throw std::invalid_argument("zkrecipes: a semaphore needs at least one permit, not " + std::to_string(permits));
  if (options.version_token)
    throw std::invalid_argument("zkrecipes: permits are held together, so a count of holds would order nothing");
  auto client = client_of(connection);
  const auto spec = std::make_shared<const recipes::SemaphoreSpec>(path, permits, std::move(options));
  core_ = std::make_unique<recipes::LockCore>(client, std::move(path), [client, spec](recipes::Patience patience) {
    return std::make_shared<recipes::SemaphoreTicket>(client, spec, patience);
  });
}

Semaphore::~Semaphore() = default;

Hold Semaphore::acquire() {
  return core_->acquire();
}

std::optional<Hold> Semaphore::try_acquire() {
  return core_->try_acquire();
}

std::optional<Hold> Semaphore::try_acquire_until(Clock::time_point deadline) {
  return core_->try_acquire_until(deadline);
}

PendingHold Semaphore::acquire_async() {
  return core_->acquire_async();
}

}  // namespace zkrecipes
