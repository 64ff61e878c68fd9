// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>
#include <zookeeper/zookeeper.h>

namespace zkrecipes::testing {

/// The C client by itself, with nothing of the library in it: the independent witness of what is in the server, and
/// the program's own handle in tests of borrowed ones. Calls block; an unexpected answer throws std::runtime_error.
class PlainClient {
 public:
  /// Waits until connected; throws std::runtime_error when that takes too long.
  explicit PlainClient(const std::string& servers,
                       std::chrono::milliseconds session_timeout = std::chrono::seconds(30));
  ~PlainClient();
  PlainClient(const PlainClient&) = delete;
  PlainClient& operator=(const PlainClient&) = delete;

  zhandle_t* handle() const { return handle_; }
  std::int64_t session_id() const { return zoo_client_id(handle_)->client_id; }
  bool is_connected() const { return zoo_state(handle_) == ZOO_CONNECTED_STATE; }

  struct Event {
    int type;
    int state;
    std::string path;
  };
  /// The events that its own (global) watcher has received, in order.
  std::vector<Event> events() const;
  bool wait_for_state(int state, std::chrono::milliseconds limit) const;

  void create(const std::string& path, const std::string& data = {}, int mode = ZOO_PERSISTENT);
  /// With all missing parents; fine if it is there.
  void create_all(const std::string& path);
  bool remove(const std::string& path);  ///< false: there was none
  void remove_all(const std::string& path);
  void set(const std::string& path, const std::string& data);

  std::optional<Stat> stat(const std::string& path, bool watch = false) const;
  bool exists(const std::string& path) const { return stat(path).has_value(); }
  std::optional<std::string> data(const std::string& path) const;
  /// Names in order; empty when the node does not exist.
  std::vector<std::string> children(const std::string& path) const;
  /// The paths of all ephemeral nodes at or below the path.
  std::vector<std::string> ephemerals_below(const std::string& path) const;

 private:
  static void watch(zhandle_t* handle, int type, int state, const char* path, void* context);

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<Event> events_;  // guarded by mutex_
  int state_ = 0;              // guarded by mutex_
  zhandle_t* handle_;          // last: its threads use the rest
};

}  // namespace zkrecipes::testing
