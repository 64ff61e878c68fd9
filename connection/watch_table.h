// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "connection/requests.h"

namespace zkrecipes::detail {

/// Which waiters an event is for. The C client knows one watch per path however many wait for it, so session events
/// need not be dealt out thousands of times, and a watch can be taken off the server when its last waiter has left. Not
/// thread-safe: its owner guards it.
class WatchTable {
 public:
  enum class Kind { data, children };
  using Id = std::uint64_t;

  /// A request that sets a watch is about to be sent.
  Id add(Kind kind, const std::string& path, WatchHandler handler);

  /// That request was answered. `set`: the watch is on, and the node was last changed by `mzxid`. Returns what must be
  /// sent when nobody wants it any more.
  std::optional<Request> answered(Id id, bool set, std::int64_t mzxid = 0);

  /// Returns what must be sent, if anything.
  std::optional<Request> remove(Id id);

  /// True when the request would take a watch off that somebody waits for, or is about to.
  bool is_wanted(const Request& unwatch) const;

  /// The handlers that the event is for. A request still in flight was or will be answered by what came after it.
  std::vector<WatchHandler> take(const std::string& path, WatchEvent event);

  struct Rewatch {
    Id id;
    std::string path;
  };
  struct Reconnected {
    std::vector<Rewatch> again;          ///< data watches: get each with a watch, and hand the answer to rewatched()
    std::vector<WatchHandler> children;  ///< child watches: call each, so that it lists again
  };
  /// The session has moved to a connection that knows nothing of its watches.
  Reconnected reconnected();
  struct Missed {
    std::vector<WatchHandler> handlers;  ///< to be called with `event`
    WatchEvent event = WatchEvent::changed;
    std::optional<Request> unwatch;  ///< to be sent when nobody wants the watch any more
  };
  Missed rewatched(Id id, const Reply& reply);

  /// What would take all watches off that the server has, or will have when what is in flight is answered.
  std::vector<Request> unwatch_all() const;

  /// The session is over, and with it all watches. Returns the handlers, to be destroyed where they can do no harm.
  std::vector<WatchHandler> clear();

  std::size_t size() const { return keys_.size(); }  ///< how many still wait
  /// What the paths would take up in the request that sets all watches again after a reconnect.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Waiter {
    WatchHandler handler;
    bool armed = false;
  };
  struct Entry {
    std::map<Id, Waiter> waiters;
    int in_flight = 0;
    bool on = false;  // the server has it
    bool rewatching = false;
    std::int64_t mzxid = 0;  // of the node when the watch was last set
  };
  using Key = std::pair<Kind, std::string>;
  using Entries = std::map<Key, Entry>;

  std::optional<Request> settle(Entries::iterator entry);
  void take_armed(Entry& entry, std::vector<WatchHandler>& handlers);

  Entries entries_;
  std::unordered_map<Id, Key> keys_;
  std::unordered_map<Id, Key> removed_in_flight_;  // removed before their request was answered
  std::unordered_map<Id, Key> rewatches_;
  std::size_t bytes_ = 0;
  Id next_ = 1;
};

}  // namespace zkrecipes::detail
