// SPDX-License-Identifier: Apache-2.0
#include "connection/watch_table.h"

#include <utility>

namespace zkrecipes::detail {

namespace {
// A string is sent with its length; the rest covers what the C client adds.
std::size_t weight(const std::string& path) {
  return path.size() + 8;
}
}  // namespace

WatchTable::Id WatchTable::add(Kind kind, const std::string& path, WatchHandler handler) {
  const Id id = next_++;
  Key key{kind, path};
  const auto [entry, inserted] = entries_.try_emplace(key);
  if (inserted) bytes_ += weight(path);
  entry->second.waiters.emplace(id, Waiter{std::move(handler)});
  ++entry->second.in_flight;
  keys_.emplace(id, std::move(key));
  return id;
}

std::optional<Request> WatchTable::answered(Id id, bool set, std::int64_t mzxid) {
  auto known = keys_.find(id);
  const bool waiting = known != keys_.end();
  if (!waiting) {
    known = removed_in_flight_.find(id);
    if (known == removed_in_flight_.end()) return std::nullopt;  // cleared meanwhile
  }
  const auto entry = entries_.find(known->second);
  --entry->second.in_flight;
  if (set) {
    entry->second.on = true;
    entry->second.mzxid = mzxid;
  }
  if (!waiting) {
    removed_in_flight_.erase(known);
  } else if (set) {
    entry->second.waiters.at(id).armed = true;
  } else {
    entry->second.waiters.erase(id);
    keys_.erase(known);
  }
  return settle(entry);
}

std::optional<Request> WatchTable::remove(Id id) {
  const auto known = keys_.find(id);
  if (known == keys_.end()) return std::nullopt;
  const auto entry = entries_.find(known->second);
  const auto waiter = entry->second.waiters.find(id);
  if (!waiter->second.armed) removed_in_flight_.emplace(id, known->second);
  entry->second.waiters.erase(waiter);
  keys_.erase(known);
  return settle(entry);
}

bool WatchTable::is_wanted(const Request& unwatch) const {
  if (unwatch.kind == RequestKind::unwatch_data) return entries_.count({Kind::data, unwatch.path}) > 0;
  if (unwatch.kind == RequestKind::unwatch_children) return entries_.count({Kind::children, unwatch.path}) > 0;
  return false;
}

std::vector<WatchHandler> WatchTable::take(const std::string& path, WatchEvent event) {
  std::vector<WatchHandler> handlers;
  for (const Kind kind : {Kind::data, Kind::children}) {
    const bool meant =
        event == WatchEvent::deleted || (kind == Kind::children) == (event == WatchEvent::children_changed);
    const auto entry = meant ? entries_.find(Key{kind, path}) : entries_.end();
    if (entry == entries_.end()) continue;
    entry->second.on = false;  // watches fire once
    take_armed(entry->second, handlers);
    settle(entry);
  }
  return handlers;
}

void WatchTable::take_armed(Entry& entry, std::vector<WatchHandler>& handlers) {
  for (auto waiter = entry.waiters.begin(); waiter != entry.waiters.end();) {
    if (!waiter->second.armed) {
      ++waiter;
      continue;
    }
    handlers.push_back(std::move(waiter->second.handler));
    keys_.erase(waiter->first);
    waiter = entry.waiters.erase(waiter);
  }
}

WatchTable::Reconnected WatchTable::reconnected() {
  Reconnected result;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto current = entry++;
    Entry& watched = current->second;
    const bool was_on = std::exchange(watched.on, false);
    if (current->first.first == Kind::children) {
      take_armed(watched, result.children);
      settle(current);
    } else if (was_on && !watched.rewatching) {
      watched.rewatching = true;
      ++watched.in_flight;
      result.again.push_back({next_, current->first.second});
      rewatches_.emplace(next_++, current->first);
    }
  }
  return result;
}

WatchTable::Missed WatchTable::rewatched(Id id, const Reply& reply) {
  Missed missed;
  const auto known = rewatches_.find(id);
  if (known == rewatches_.end()) return missed;  // cleared in the meantime
  const auto entry = entries_.find(known->second);
  rewatches_.erase(known);
  Entry& watched = entry->second;
  watched.rewatching = false;
  --watched.in_flight;
  if (reply.status == Status::ok) {
    watched.on = true;
    if (std::exchange(watched.mzxid, reply.stat.mzxid) != reply.stat.mzxid) take_armed(watched, missed.handlers);
  } else {
    if (reply.status == Status::no_node) missed.event = WatchEvent::deleted;
    take_armed(watched, missed.handlers);
  }
  missed.unwatch = settle(entry);
  return missed;
}

std::vector<Request> WatchTable::unwatch_all() const {
  std::vector<Request> requests;
  for (const auto& [key, entry] : entries_)
    if (entry.on || entry.in_flight > 0)
      requests.push_back(
          {key.first == Kind::data ? RequestKind::unwatch_data : RequestKind::unwatch_children, key.second});
  return requests;
}

std::vector<WatchHandler> WatchTable::clear() {
  std::vector<WatchHandler> handlers;
  for (auto& [key, entry] : entries_)
    for (auto& [id, waiter] : entry.waiters) handlers.push_back(std::move(waiter.handler));
  entries_.clear();
  keys_.clear();
  removed_in_flight_.clear();
  rewatches_.clear();
  bytes_ = 0;
  return handlers;
}

std::optional<Request> WatchTable::settle(Entries::iterator entry) {
  if (!entry->second.waiters.empty() || entry->second.in_flight > 0) return std::nullopt;
  std::optional<Request> unwatch;
  const auto& [kind, path] = entry->first;
  if (entry->second.on)
    unwatch = Request{kind == Kind::data ? RequestKind::unwatch_data : RequestKind::unwatch_children, path};
  bytes_ -= weight(path);
  entries_.erase(entry);
  return unwatch;
}

}  // namespace zkrecipes::detail
