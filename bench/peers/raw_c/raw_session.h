// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <zookeeper/zookeeper.h>

namespace bench {

/// Ends the process if `rc` is an error: what the C client is measured with has no recovery to measure.
void check(int rc, const char* what);

/// A connected handle of the C client.
class RawSession {
 public:
  /// `address` must be numeric: the C client then need not resolve it again with each request.
  explicit RawSession(const std::string& address);
  ~RawSession();
  RawSession(const RawSession&) = delete;
  RawSession& operator=(const RawSession&) = delete;

  zhandle_t* handle() const { return handle_; }
  /// Makes the node and those above it, where they are missing.
  void make_path(const std::string& path);

 private:
  static void on_session(zhandle_t* handle, int type, int state, const char* path, void* self);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool connected_ = false;  // guarded by mutex_
  zhandle_t* handle_ = nullptr;
};

}  // namespace bench
