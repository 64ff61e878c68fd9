// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace comparison {

/// The interface of all designs, for one contender. Used by one thread, requests() excepted. Destroyed:
/// released if it is held.
class Lock {
 public:
  Lock() = default;
  virtual ~Lock() = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  /// Waits until this contender holds the lock, as far as its client knows, also through outages.
  virtual void acquire() = 0;
  /// False if this client learns from it that the lock was not its own any more.
  virtual bool release() = 0;
  /// As far as this client knows without asking a server: its lease has not run out, its connection is up.
  virtual bool is_held() = 0;
  /// A number that grows from holder to holder, if the design has one. While it is held.
  virtual std::optional<std::int64_t> token() { return std::nullopt; }
  /// Sent to servers so far, those that keep a lease alive included. Empty if this client does not count them.
  virtual std::optional<long> requests() const noexcept = 0;
};

}  // namespace comparison
