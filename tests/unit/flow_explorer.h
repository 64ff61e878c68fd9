// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/flow_driver.h"

namespace zkrecipes::detail {

/// Leads a flow through everything that can happen to it, breadth first, until nothing new is seen. In each state that
/// it reaches, it also feeds every kind of event, possible or not, and then leaves: that must neither crash nor leave
/// anything behind.
template <class SomeFlow>
class FlowExplorer {
 public:
  using Driver = FlowDriver<SomeFlow>;

  explicit FlowExplorer(std::vector<int> permits = {}) : permits_(std::move(permits)) {}

  /// The number of states that were seen.
  std::size_t explore(const SomeFlow& flow) {
    std::deque<std::pair<Driver, std::string>> open;
    open.emplace_back(Driver(flow), "");
    seen_.insert(open.front().first.signature());
    while (!open.empty() && !::testing::Test::HasFailure()) {
      if (seen_.size() > kTooMany) {
        ADD_FAILURE() << "there is no end after" << open.front().first.trail();
        break;
      }
      const Driver driver = open.front().first;
      open.pop_front();
      EXPECT_TRUE(driver.can_go_on()) << "nothing can wake the flow after" << driver.trail();
      if (driver.ended()) continue;
      feed_everything(driver);
      for (const Choice& choice : choices(driver)) {
        Driver next = driver;
        choice.happens(next);
        // What a listing has shown decides about later steps without being visible from outside.
        const std::string signature = next.signature() + choice.label;
        if (seen_.insert(signature).second) open.emplace_back(std::move(next), signature);
      }
    }
    return seen_.size();
  }

 private:
  struct Choice {
    std::string label;
    std::function<void(Driver&)> happens;
  };

  std::vector<Choice> choices(const Driver& driver) const {
    std::vector<Choice> result;
    const auto add = [&](std::string label, std::function<void(Driver&)> happens) {
      result.push_back({std::move(label), std::move(happens)});
    };
    add("left", [](Driver& d) { d.left(); });
    add("refused", [](Driver& d) { d.refused(Status::closed); });
    if (driver.awaits_session()) {
      for (const int permits : permits_)
        add("permits " + std::to_string(permits), [permits](Driver& d) { d.permits_changed(permits); });
      add("session", [](Driver& d) { d.session_ready(); });
      return result;
    }
    add("over", [](Driver& d) { d.session_over(); });
    if (driver.template awaits_answer<action::List>(Topic::path)) {
      add("no queue", [](Driver& d) { d.listed({"locks", "leases"}, Topic::path); });
      add("a queue", [](Driver& d) { d.listed({"locks", "leases", "_c_x-lock-0000000001"}, Topic::path); });
    }
    if (driver.template awaits_answer<action::List>(Topic::leases)) {
      const NameList mine = driver.lease_names();
      add("mine, unmarked", [mine](Driver& d) { d.listed(mine, Topic::leases, 0); });
      add("foreign, unmarked", [](Driver& d) { d.listed({"foreign"}, Topic::leases, 0); });
    }
    if (driver.template awaits_answer<action::Create>(Topic::leases)) {
      add("occupied", [](Driver& d) { d.occupied("/sem/_c_x-lock-0000000001"); });
      add("created with its folder", [](Driver& d) { d.created(Topic::leases, 0, true); });
    }
    if (driver.awaits_create_that_needs_parent()) add("no folder", [](Driver& d) { d.no_parent(); });
    for (const Topic topic : {Topic::line, Topic::leases}) {
      if (driver.template awaits_answer<action::Create>(topic))
        add("created", [topic](Driver& d) { d.created(topic); });
      if (driver.template awaits_answer<action::List>(topic)) {
        add("no node", [topic](Driver& d) { d.list_no_node(topic); });
        for (const auto& [label, children] : listings(driver, topic))
          add(label, [topic = topic, children = children](Driver& d) { d.listed(children, topic); });
      }
      if (driver.template awaits_answer<action::WatchChildren>(topic)) {
        add("missing", [topic](Driver& d) { d.children_watch_no_node(topic); });
        for (const auto& [label, children] : listings(driver, topic))
          add(label, [topic = topic, children = children](Driver& d) { d.children_watched(children, topic); });
      }
      const bool answered = !driver.template awaits_answer<action::WatchNode>() &&
                            !driver.template awaits_answer<action::WatchChildren>();
      if (driver.watches(topic) && answered) {
        add("deleted", [topic](Driver& d) { d.changed(topic); });
        add("changed", [topic](Driver& d) { d.changed(topic, WatchEvent::changed); });
      }
    }
    if (driver.template awaits_answer<action::Create>(Topic::line)) add("exists", [](Driver& d) { d.node_exists(); });
    if (driver.template awaits_answer<action::Look>()) {
      add("there", [](Driver& d) { d.looked(true); });
      add("there and persistent", [](Driver& d) { d.looked(true, 0); });
      add("not there", [](Driver& d) { d.looked(false); });
    }
    if (driver.template awaits_answer<action::WatchNode>()) {
      add("set", [](Driver& d) { d.watch_set(); });
      add("set on a persistent node", [](Driver& d) { d.watch_set(Status::ok, 0); });
      add("not set", [](Driver& d) { d.watch_set(Status::no_node); });
      add("may not be read", [](Driver& d) { d.watch_refused(); });
    }
    if (driver.template awaits_answer<action::RaiseVersion>()) {
      add("raised", [](Driver& d) { d.version_raised(Status::ok, 7); });
      add("bad version", [](Driver& d) { d.version_raised(Status::bad_version); });
      add("no path", [](Driver& d) { d.version_raised(Status::no_node); });
    }
    if (driver.template awaits_answer<action::MakeHold>()) {
      add("granted", [](Driver& d) { d.granted(); });
      add("hold gone", [](Driver& d) { d.hold_node_gone(); });
      add("lease over", [](Driver& d) { d.lease_over(); });
    }
    for (const int permits : permits_)
      add("permits " + std::to_string(permits), [permits](Driver& d) { d.permits_changed(permits); });
    if (driver.probes()) add("gone", [](Driver& d) { d.own_node_gone(); });
    if (!driver.timers().empty())
      for (const int id : {*driver.timers().begin(), *driver.timers().rbegin()})
        add("timer", [id](Driver& d) { d.timer(id); });
    return result;
  }

  static std::vector<std::pair<std::string, NameList>> listings(const Driver& driver, Topic topic) {
    if (topic == Topic::leases) {
      const std::string other = "_c_x-lease-0000000001";
      const std::string first(name_of(driver.lease()));
      std::vector<std::pair<std::string, NameList>> listings{{"none", {}},
                                                             {"other", {other}},
                                                             {"mine", driver.lease_names()},
                                                             {"mine and other", driver.lease_names({other})}};
      if (driver.lease_names().size() > 1) listings.push_back({"one of mine", {other, first}});
      return listings;
    }
    const std::string mine(name_of(driver.line_node()));
    return {{"none", {}},
            {"other", {"_c_x-lock-0000000001"}},
            {"first", {mine}},
            {"second", {"_c_x-lock-0000000001", mine}},
            {"behind a reader", {"_c_x-__READ__0000000001", mine}},
            {"third", {"_c_x-lock-0000000001", "_c_x-lock-0000000002", mine}},
            {"twice", {mine, "_c_guid1-lock-0000000006"}},
            {"beside a semaphore", {"leases", mine}},
            {"overflow", {mine, "_c_x-lock--2147483648"}}};
  }

  static void feed_everything(const Driver& driver) {
    const std::vector<Event> all = {event::SessionReady{"other"},
                                    event::Created{Topic::leases, Status::node_exists, {}},
                                    event::Listed{Topic::leases, Status::no_node, {}, {}, true},
                                    event::Looked{true},
                                    event::WatchSet{Status::no_node, {}},
                                    event::Changed{Topic::line, WatchEvent::changed},
                                    event::VersionRaised{Status::bad_version, 0},
                                    event::TimerFired{12345},
                                    event::PermitsChanged{1},
                                    event::Granted{},
                                    event::OwnNodeGone{},
                                    event::LeaseOver{},
                                    event::SessionOver{},
                                    event::Refused{Status::too_large, Topic::leases},
                                    event::Left{}};
    static_assert(std::variant_size_v<Event> == 15, "each kind once");
    for (const Event& event : all) {
      SomeFlow flow = driver.flow();
      flow.on(event);
      flow.on(event::Left{});
      const Actions after = flow.on(event);
      // Nothing is begun after the end.
      EXPECT_TRUE(after.empty()) << "event " << event.index() << " after leaving, after" << driver.trail();
    }
  }

  static constexpr std::size_t kTooMany = 20'000;
  const std::vector<int> permits_;  // numbers to which those of a semaphore are changed
  std::set<std::string> seen_;
};

}  // namespace zkrecipes::detail
