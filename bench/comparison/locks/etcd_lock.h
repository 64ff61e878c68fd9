// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "bench/comparison/locks/etcd_client.h"
#include "bench/comparison/locks/lock.h"

namespace comparison {

/// etcd's own lock: the server queues the keys of those who ask, each bound to a lease that a thread keeps alive. The
/// request to lock is answered when it is granted.
class EtcdLock : public Lock {
 public:
  /// The lease is counted in whole seconds; the server may have a larger minimum.
  EtcdLock(const std::string& endpoint, const std::string& name, std::chrono::milliseconds lease);
  ~EtcdLock() override;
  void acquire() override;
  bool release() override;
  bool is_held() override;
  std::optional<std::int64_t> token() override;  ///< the revision in which its key was created
  std::optional<long> requests() const noexcept override { return client_.requests() + keeper_.requests(); }

 private:
  std::string lease();  ///< the one there is, or a new one; empty if the server does not answer
  void keep_alive();

  // constant after construction
  const std::string name_;  // in base 64
  const std::chrono::milliseconds lease_time_;

  EtcdClient client_;
  std::string key_;  // in base 64

  std::mutex mutex_;
  std::condition_variable wake_;
  // guarded by mutex_
  bool ending_ = false;
  std::string lease_;  // empty: none, or it ran out
  std::chrono::steady_clock::time_point valid_until_{};

  EtcdClient keeper_;  // the thread's own
  std::thread thread_;
};

}  // namespace comparison
