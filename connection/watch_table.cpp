// SPDX-License-Identifier: Apache-2.0
#include "connection/watch_table.h"

namespace zkrecipes::connection {

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

std::optional<Request> WatchTable::answered(Id id, bool set) {
  auto known = keys_.find(id);
  const bool waiting = known != keys_.end();
  if (!waiting) {
    known = removed_in_flight_.find(id);
    if (known == removed_in_flight_.end()) return std::nullopt;  // cleared meanwhile
  }
  const auto entry = entries_.find(known->second);
  --entry->second.in_flight;
  if (set) entry->second.on = true;
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
    for (auto waiter = entry->second.waiters.begin(); waiter != entry->second.waiters.end();) {
      if (!waiter->second.armed) {
        ++waiter;
        continue;
      }
      handlers.push_back(std::move(waiter->second.handler));
      keys_.erase(waiter->first);
      waiter = entry->second.waiters.erase(waiter);
    }
    settle(entry);
  }
  return handlers;
}

std::vector<WatchHandler> WatchTable::clear() {
  std::vector<WatchHandler> handlers;
  for (auto& [key, entry] : entries_)
    for (auto& [id, waiter] : entry.waiters) handlers.push_back(std::move(waiter.handler));
  entries_.clear();
  keys_.clear();
  removed_in_flight_.clear();
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

}  // namespace zkrecipes::connection
