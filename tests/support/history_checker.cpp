// SPDX-License-Identifier: Apache-2.0
#include "tests/support/history_checker.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <stdexcept>
#include <utility>

namespace zkrecipes::testing {

namespace {

using Kind = HistoryEvent::Kind;
using Key = std::pair<std::string, std::int64_t>;  // process, operation

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// An operation as its process tells it.
struct Operation {
  std::optional<HistoryEvent> invoke;
  std::vector<HistoryEvent> grants;  // the second is the downgrade of the first
  std::optional<HistoryEvent> end;   // fail, unknown, release or lost
  std::int64_t valid_until = -1;     // the latest that was recorded
};

/// A time for which an operation held in one mode.
struct Hold {
  HistoryEvent granted;
  std::optional<HistoryEvent> ended;
  std::int64_t from;
  std::int64_t until;
};

class Check {
 public:
  Check(LockModel model, int permits) : model_(model), permits_(permits) {}

  Verdict run(const History& history) {
    for (const HistoryEvent& event : history) take(event);
    for (auto& [key, operation] : operations_) add_holds(key, operation);
    std::stable_sort(holds_.begin(), holds_.end(), [](const Hold& a, const Hold& b) { return a.from < b.from; });
    check_overlaps();
    const bool fenced = model_ == LockModel::fenced_mutex || model_ == LockModel::retained_mutex;
    if (fenced || model_ == LockModel::read_write) check_tokens();
    if (fenced) check_writes();
    return std::move(verdict_);
  }

 private:
  void refuse(std::string rule, History events) { verdict_.violations.push_back({std::move(rule), std::move(events)}); }

  // ---- Each operation by itself ----

  void take(const HistoryEvent& event) {
    if (event.kind == Kind::died) {
      deaths_[event.process] = event;
      return;
    }
    if (event.kind == Kind::write) {
      writes_.push_back(event);
      return;
    }
    Operation& operation = operations_[{event.process, event.operation}];
    if (event.kind == Kind::invoke) {
      if (operation.invoke) return refuse("an operation is invoked once", {*operation.invoke, event});
      operation.invoke = event;
      return;
    }
    if (!operation.invoke) {
      const bool ends = event.kind == Kind::release || event.kind == Kind::lost;
      refuse(ends ? "only a holder can release or lose" : "an operation begins with its invoke", {event});
      operation.invoke = event;
      operation.end = event;
      return;
    }
    switch (event.kind) {
      case Kind::ok:
        return grant(operation, event);
      case Kind::valid:
        operation.valid_until = std::max(operation.valid_until, event.time);
        return;
      default:
        return end(operation, event);
    }
  }

  void grant(Operation& operation, const HistoryEvent& event) {
    if (operation.end) return refuse("nothing is granted after the end", {*operation.end, event});
    if (event.time < operation.invoke->time)
      return refuse("nothing is granted before it was asked for", {*operation.invoke, event});
    if (!operation.grants.empty()) {
      const HistoryEvent& first = operation.grants.front();
      const bool downgrade =
          operation.grants.size() == 1 && first.mode == LockMode::write && event.mode == LockMode::read;
      if (!downgrade) return refuse("an operation is granted once", {first, event});
      if (first.token != event.token) return refuse("a downgrade keeps the token", {first, event});
    } else {
      ++verdict_.grants;
    }
    operation.grants.push_back(event);
  }

  void end(Operation& operation, const HistoryEvent& event) {
    if (operation.end && operation.end->kind != Kind::unknown)
      return refuse("an operation ends once", {*operation.end, event});
    const bool held = !operation.grants.empty();
    if (event.kind == Kind::fail || event.kind == Kind::unknown) {
      if (held) return refuse("what was granted ends by release or loss", {operation.grants.front(), event});
      ++(event.kind == Kind::fail ? verdict_.failures : verdict_.unknown);
    } else if (!held && !operation.end) {
      return refuse("only a holder can release or lose", {*operation.invoke, event});
    }
    if (held && event.kind == Kind::lost) ++verdict_.lost;
    operation.end = event;
  }

  void add_holds(const Key& key, const Operation& operation) {
    if (operation.grants.empty()) return;
    std::int64_t until = kNever;
    std::optional<HistoryEvent> ended = operation.end;
    const auto death = deaths_.find(key.first);
    if (ended) {
      until = ended->time;
    } else if (death != deaths_.end()) {
      ++verdict_.lost;
      ended = death->second;
      until = ended->time;
      if (operation.valid_until >= 0) until = std::min(until, operation.valid_until);
    }
    for (std::size_t i = 0; i < operation.grants.size(); ++i) {
      const HistoryEvent& granted = operation.grants[i];
      const bool last = i + 1 == operation.grants.size();
      const std::int64_t end_here = last ? until : std::min(until, operation.grants[i + 1].time);
      holds_.push_back({granted, last ? ended : operation.grants[i + 1], granted.time, end_here});
    }
  }

  // ---- All holds together ----

  bool tolerates(const std::vector<const Hold*>& inside, const Hold& next) const {
    const auto of_next = [&](const Hold* hold) {  // the write part of a hold that was downgraded ends as it begins
      return hold->granted.process == next.granted.process && hold->granted.operation == next.granted.operation;
    };
    const auto others = std::count_if(inside.begin(), inside.end(), [&](const Hold* hold) { return !of_next(hold); });
    switch (model_) {
      case LockModel::mutex:
      case LockModel::fenced_mutex:
      case LockModel::retained_mutex:
        return others == 0;
      case LockModel::semaphore:
        return others < permits_;
      case LockModel::read_write:
        if (next.granted.mode != LockMode::read) return others == 0;
        return std::none_of(inside.begin(), inside.end(),
                            [&](const Hold* hold) { return !of_next(hold) && hold->granted.mode != LockMode::read; });
    }
    return false;
  }

  const char* rule_of_overlap() const {
    switch (model_) {
      case LockModel::mutex:
      case LockModel::fenced_mutex:
      case LockModel::retained_mutex:
        return "one holder at a time";
      case LockModel::semaphore:
        return "no more holders than permits";
      case LockModel::read_write:
        return "a writer holds alone";
    }
    return "";
  }

  void check_overlaps() {
    std::vector<const Hold*> inside;
    for (const Hold& next : holds_) {
      inside.erase(
          std::remove_if(inside.begin(), inside.end(), [&](const Hold* hold) { return hold->until <= next.from; }),
          inside.end());
      if (next.until <= next.from) continue;
      if (!tolerates(inside, next)) {
        History events;
        for (const Hold* hold : inside) {
          events.push_back(hold->granted);
          if (hold->ended) events.push_back(*hold->ended);
        }
        events.push_back(next.granted);
        refuse(rule_of_overlap(), std::move(events));
      }
      inside.push_back(&next);
    }
  }

  void check_tokens() {
    const Hold* newest = nullptr;
    for (const Hold& hold : holds_) {
      if (hold.granted.mode == LockMode::read || hold.granted.mode == LockMode::permit) continue;
      if (!hold.granted.token) {
        refuse("a hold has a token", {hold.granted});
        continue;
      }
      if (newest != nullptr && *hold.granted.token <= *newest->granted.token && !is_retained(*newest, hold))
        refuse("tokens grow in the order of grants", {newest->granted, hold.granted});
      else
        newest = &hold;
    }
  }

  bool is_retained(const Hold& before, const Hold& hold) const {
    const auto process = [](const Hold& one) { return one.granted.process.substr(0, one.granted.process.find('.')); };
    return model_ == LockModel::retained_mutex && before.granted.token == hold.granted.token &&
           process(before) == process(hold);
  }

  void check_writes() {
    const HistoryEvent* newest = nullptr;
    for (const HistoryEvent& write : writes_) {
      ++verdict_.writes;
      if (newest != nullptr && *write.token < *newest->token)
        refuse("a write with an old token is not accepted", {*newest, write});
      else
        newest = &write;
    }
  }

  const LockModel model_;
  const int permits_;
  std::map<Key, Operation> operations_;
  std::map<std::string, HistoryEvent> deaths_;
  History writes_;
  std::vector<Hold> holds_;
  Verdict verdict_;
};

}  // namespace

Verdict check_history(const History& history, LockModel model, int permits) {
  if (permits < 1) throw std::invalid_argument("check_history: fewer than 1 permit");
  return Check(model, permits).run(history);
}

std::ostream& operator<<(std::ostream& out, const Verdict& verdict) {
  constexpr std::size_t kShown = 5;
  out << (verdict.accepted() ? "no violation" : std::to_string(verdict.violations.size()) + " VIOLATIONS") << ": "
      << verdict.grants << " grants, " << verdict.failures << " not granted, " << verdict.unknown << " unknown, "
      << verdict.lost << " lost";
  if (verdict.writes > 0) out << ", " << verdict.writes << " writes";
  for (std::size_t i = 0; i < std::min(kShown, verdict.violations.size()); ++i) {
    out << "\n  " << verdict.violations[i].rule;
    for (const HistoryEvent& event : verdict.violations[i].events) out << "\n    " << event;
  }
  if (verdict.violations.size() > kShown) out << "\n  and " << verdict.violations.size() - kShown << " more";
  return out;
}

History ended_operations(const History& history) {
  std::set<Key> ended;
  for (const HistoryEvent& event : history)
    if (event.kind == Kind::release || event.kind == Kind::lost || event.kind == Kind::fail)
      ended.insert({event.process, event.operation});
  History rest;
  for (const HistoryEvent& event : history)
    if (event.kind == Kind::write || ended.count({event.process, event.operation}) != 0) rest.push_back(event);
  return rest;
}

std::int64_t longest_wait(const History& history, std::int64_t since, std::int64_t until) {
  std::map<Key, std::int64_t> waiting;
  std::set<Key> answered;
  std::int64_t longest = 0;
  for (const HistoryEvent& event : history) {
    const Key key{event.process, event.operation};
    if (event.kind == Kind::invoke) waiting[key] = event.time;
    if (event.kind != Kind::ok && event.kind != Kind::fail && event.kind != Kind::unknown) continue;
    if (!answered.insert(key).second) continue;
    const auto began = waiting.find(key);
    if (event.kind == Kind::ok && began != waiting.end() && event.time > since)
      longest = std::max(longest, event.time - std::max(began->second, since));
  }
  std::set<std::string> dead;
  for (const HistoryEvent& event : history)
    if (event.kind == Kind::died) dead.insert(event.process);
  for (const auto& [key, began] : waiting)
    if (answered.count(key) == 0 && dead.count(key.first) == 0 && until > began)
      longest = std::max(longest, until - std::max(began, since));
  return longest;
}

}  // namespace zkrecipes::testing
