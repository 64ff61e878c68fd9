// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "zkrecipes/connection.h"
#include "zkrecipes/deadline.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/lock_options.h"
#include "zkrecipes/pending_hold.h"

namespace zkrecipes {

namespace recipes {
class LockCore;
}

/// A number of permits shared between processes, given out in order of arrival. Only the head of the line watches the
/// permits.
///
/// Compatible with Curator's InterProcessSemaphoreV2 on the same path. The number of permits is each client's own
/// opinion: a client takes a permit when, by its own number, there is one. Give all the same number; a client with a
/// larger one can push the total up to that number. Thread-safe; may outlive its Connection.
class Semaphore {
 public:
  /// Throws std::invalid_argument if the path is no absolute node path or permits < 1.
  Semaphore(Connection& connection, std::string path, int permits, LockOptions options = {});
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  // As FairMutex::acquire() and its kin; each hold is one permit.
  [[nodiscard]] Hold acquire();
  /// Is there a permit now? Empty when all are taken; then somebody may be waiting for one, and is not overtaken. While
  /// permits are free, others may be in line for the moment that it takes to serve them: the try joins them and takes
  /// its turn, and is empty when the last permit goes to one ahead of it. It also gives up after two seconds in which
  /// nobody ahead was served, behind a process that has died, for example.
  [[nodiscard]] std::optional<Hold> try_acquire();
  [[nodiscard]] std::optional<Hold> try_acquire_until(Clock::time_point deadline);
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Hold> try_acquire_for(const std::chrono::duration<Rep, Period>& timeout) {
    return try_acquire_until(deadline_after(timeout));
  }
  [[nodiscard]] PendingHold acquire_async();

 private:
  std::unique_ptr<recipes::LockCore> core_;
};

}  // namespace zkrecipes
