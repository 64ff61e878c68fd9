// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "recipes/flow.h"
#include "recipes/queue_rule.h"

namespace zkrecipes::detail {

/// Stands in for Acquisition and the server: keeps account of what a flow has asked for and has set up, and fails the
/// test when the flow sets up something twice, takes back what is not there, or leaves something behind. A value, so
/// that a test can go on from one state in several ways.
template <class SomeFlow>
class FlowDriver {
 public:
  explicit FlowDriver(SomeFlow flow) : flow_(std::move(flow)) {}

  // ---- What happens to the flow. Answers go to the oldest request of their kind. ----

  FlowDriver& session_ready(const std::string& guid = "") {
    EXPECT_TRUE(awaiting_) << trail_;
    awaiting_ = false;
    in_attempt_ = true;
    ++attempts_;
    leases_.clear();
    return feed("session", event::SessionReady{guid.empty() ? "guid" + std::to_string(attempts_) : guid});
  }
  FlowDriver& created(Topic topic = Topic::line, std::int64_t czxid = 0, bool made_parent = false) {
    const CreateSpec spec = take<action::Create>(topic).spec;
    event::Created event;
    event.node.made_parent = made_parent;
    if (made_parent) known_.insert(spec.parent);
    event.topic = topic;
    event.node.path = join(spec.parent, spec.name);
    if (spec.mode == CreateMode::ephemeral_sequential) event.node.path += "0000000005";
    event.node.stat.czxid = 100 + attempts_;
    live_.insert(event.node.path);
    known_.insert(event.node.path);
    if (topic == Topic::line) {
      line_node_ = event.node.path;
    } else {
      event.node.stat.czxid += 10 * static_cast<std::int64_t>(leases_.size());
      leases_.push_back(event.node.path);
    }
    if (czxid != 0) event.node.stat.czxid = czxid;
    return feed("created", event);
  }
  /// The answer to the oldest create that must not make its parent.
  FlowDriver& no_parent() {
    const auto found = std::find_if(pending_.begin(), pending_.end(), needs_parent);
    if (found == pending_.end()) {
      ADD_FAILURE() << "no such create after" << trail_;
      return *this;
    }
    pending_.erase(found);
    return feed("no_parent", event::Created{Topic::leases, Status::no_parent, {}});
  }
  /// The create has found this node of another kind of lock.
  FlowDriver& occupied(const std::string& node, Topic topic = Topic::leases) {
    take<action::Create>(topic);
    event::Created event{topic, Status::occupied, {}};
    event.node.path = node;
    return feed("occupied", event);
  }
  FlowDriver& node_exists() {
    take<action::Create>(Topic::line);
    return feed("node_exists", event::Created{Topic::line, Status::node_exists, {}});
  }
  FlowDriver& listed(const NameList& children, Topic topic = Topic::line, std::optional<std::int32_t> version = {}) {
    take<action::List>(topic);
    event::Listed event{topic, Status::ok, children, {}, false};
    event.stat = stat_of(topic, version);
    for (const std::string_view child : children) known_.insert(join(topic_path_, child));
    return feed("listed(" + std::to_string(children.size()) + ")", event);
  }
  FlowDriver& list_no_node(Topic topic = Topic::line) {
    take<action::List>(topic);
    return feed("list_no_node", event::Listed{topic, Status::no_node, {}, {}, false});
  }
  FlowDriver& looked(bool there, std::int64_t owner = 1) {
    take<action::Look>(Topic::line);
    event::Looked event{there, {}};
    event.stat.ephemeral_owner = owner;
    return feed(there ? "there" : "not_there", event);
  }
  FlowDriver& watch_set(Status status = Status::ok, std::int64_t owner = 1) {
    take<action::WatchNode>(Topic::line);
    if (status != Status::ok) watches_.erase(Topic::line);
    event::WatchSet event{status, {}};
    event.stat.ephemeral_owner = owner;
    return feed(status == Status::ok ? "watch_set" : "watch_no_node", event);
  }
  FlowDriver& watch_refused() {
    take<action::WatchNode>(Topic::line);
    return refused();
  }
  FlowDriver& children_watched(const NameList& children, Topic topic = Topic::leases,
                               std::optional<std::int32_t> version = {}) {
    take<action::WatchChildren>(topic);
    event::Listed event{topic, Status::ok, children, {}, true};
    event.stat = stat_of(topic, version);
    if (topic == Topic::line)
      for (const std::string_view child : children) known_.insert(join(topic_path_, child));
    return feed("children_watched(" + std::to_string(children.size()) + ")", event);
  }
  FlowDriver& children_watch_no_node(Topic topic = Topic::leases) {
    take<action::WatchChildren>(topic);
    watches_.erase(topic);
    return feed("children_watch_no_node", event::Listed{topic, Status::no_node, {}, {}, true});
  }
  FlowDriver& changed(Topic topic = Topic::line, WatchEvent what = WatchEvent::deleted) {
    EXPECT_EQ(watches_.erase(topic), 1U) << trail_;
    return feed(what == WatchEvent::deleted ? "deleted" : "changed", event::Changed{topic, what});
  }
  FlowDriver& version_raised(Status status, std::int32_t version = 0) {
    take<action::RaiseVersion>(Topic::line);
    return feed(status == Status::ok ? "raised" : "not_raised", event::VersionRaised{status, version});
  }
  FlowDriver& timer(int id) {
    EXPECT_EQ(timers_.erase(id), 1U) << trail_;
    return feed("timer", event::TimerFired{id});
  }
  FlowDriver& granted() {
    granted_ = take<action::MakeHold>(Topic::line);
    live_.erase(granted_->grant.node);
    for (const std::string& node : granted_->grant.more_nodes) live_.erase(node);
    in_attempt_ = false;
    feed("granted", event::Granted{});
    ended_ = true;
    expect_nothing_left();
    return *this;
  }
  /// The proof that was asked for before the grant did not find the node.
  FlowDriver& hold_node_gone() {
    live_.erase(take<action::MakeHold>(Topic::line).grant.node);
    return feed("hold_node_gone", event::OwnNodeGone{});
  }
  FlowDriver& lease_over() {
    take<action::MakeHold>(Topic::line);
    return feed("lease_over", event::LeaseOver{});
  }
  FlowDriver& own_node_gone() {
    EXPECT_TRUE(probing_) << trail_;
    live_.erase(line_node_);
    return feed("own_node_gone", event::OwnNodeGone{});
  }
  FlowDriver& permits_changed(int permits) {
    const bool awaited = std::exchange(awaiting_, false);  // a flow may fail while it waits for a session
    permits_ = permits;
    feed("permits(" + std::to_string(permits) + ")", event::PermitsChanged{permits});
    awaiting_ = awaiting_ || (awaited && !ended_);
    return *this;
  }
  FlowDriver& session_over() {
    live_.clear();
    return feed("session_over", event::SessionOver{});
  }
  FlowDriver& refused(Status status = Status::not_authorized, Topic topic = Topic::line) {
    awaiting_ = false;
    return feed("refused", event::Refused{status, topic});
  }
  FlowDriver& left() {
    feed("left", event::Left{});
    ended_ = true;
    pending_.clear();
    expect_nothing_left();
    return *this;
  }
  /// Anything, whether or not it can happen now.
  FlowDriver& feed(const std::string& label, const Event& event) {
    trail_ += " " + label;
    last_ = flow_.on(event);
    for (const Action& action : last_) perform(action);
    return *this;
  }

  // ---- What the flow has done ----

  /// The last actions, by name.
  std::vector<std::string> actions() const {
    std::vector<std::string> names;
    for (const Action& action : last_) names.push_back(name_of_action(action));
    return names;
  }
  template <class Wanted>
  const Wanted& last() const {
    for (const Action& action : last_)
      if (const auto* const found = std::get_if<Wanted>(&action)) return *found;
    ADD_FAILURE() << "no such action after" << trail_;
    static const Wanted none{};
    return none;
  }
  template <class Wanted>
  bool awaits_answer(std::optional<Topic> topic = {}) const {
    return std::any_of(pending_.begin(), pending_.end(),
                       [&](const Action& action) { return is<Wanted>(action, topic); });
  }
  bool awaits_create_that_needs_parent() const { return std::any_of(pending_.begin(), pending_.end(), needs_parent); }
  bool awaits_session() const { return awaiting_; }
  bool in_attempt() const { return in_attempt_; }
  bool ended() const { return ended_; }
  bool not_served() const { return not_served_; }
  const std::optional<action::Fail>& failed() const { return failed_; }
  const std::vector<int>& waits() const { return waits_; }
  const std::optional<action::MakeHold>& hold() const { return granted_; }
  bool watches(Topic topic) const { return watches_.count(topic) != 0; }
  bool probes() const { return probing_; }
  const std::set<int>& timers() const { return timers_; }
  const std::vector<std::string>& removed() const { return removed_; }
  const std::string& line_node() const { return line_node_; }
  const std::vector<std::string>& leases() const { return leases_; }
  /// The first one, or none.
  std::string lease() const { return leases_.empty() ? "" : leases_.front(); }
  /// The names of all, and of others if there are any.
  NameList lease_names(const std::vector<std::string>& others = {}) const {
    std::vector<std::string> names = others;
    for (const std::string& lease : leases_) names.emplace_back(name_of(lease));
    return names;
  }
  const std::string& trail() const { return trail_; }
  int attempts() const { return attempts_; }
  const SomeFlow& flow() const { return flow_; }
  /// Whether anything can still happen that wakes the flow up.
  bool can_go_on() const { return ended_ || awaiting_ || !pending_.empty() || !watches_.empty() || !timers_.empty(); }
  /// What an observer can tell about the state.
  std::string signature() const {
    std::string text = std::to_string(ended_) + std::to_string(awaiting_) + std::to_string(probing_) +
                       std::to_string(live_.size()) + std::to_string(std::min(attempts_, 3)) + "|" +
                       std::to_string(permits_) + "|";
    // More than two requests of one kind are like two: a flow may lose interest in an answer and ask again.
    std::map<std::string, int> times;
    for (const Action& action : pending_) {
      const std::string name = name_of_action(action) + topic_of(action) + ",";
      if (++times[name] <= 2) text += name;
    }
    for (const Topic topic : watches_) text += topic == Topic::line ? "w" : "W";
    // Any number of timers that are out of date is like one.
    if (!timers_.empty()) text += "t" + std::to_string(*timers_.begin() < 0) + std::to_string(*timers_.rbegin() > 0);
    return text;
  }

 private:
  /// The folder of the leases is marked, and that is confirmed, as a rule.
  static NodeStat stat_of(Topic topic, std::optional<std::int32_t> version) {
    NodeStat stat;
    stat.version = version.value_or(topic == Topic::leases ? 2 : 0);
    if (topic == Topic::leases && stat.version > 0)
      stat.data_length = static_cast<std::int32_t>(kLeaseFolderMark.size());
    return stat;
  }
  static bool needs_parent(const Action& action) {
    const auto* const create = std::get_if<action::Create>(&action);
    return create != nullptr && create->spec.needs_parent;
  }
  template <class Wanted>
  static bool is(const Action& action, std::optional<Topic> topic) {
    const auto* const found = std::get_if<Wanted>(&action);
    if (found == nullptr) return false;
    if constexpr (has_topic<Wanted>) return !topic || found->topic == *topic;
    return true;
  }
  template <class Wanted>
  static constexpr bool has_topic = std::is_same_v<Wanted, action::Create> || std::is_same_v<Wanted, action::List> ||
                                    std::is_same_v<Wanted, action::WatchChildren>;
  static std::string topic_of(const Action& action) {
    const bool leases = is<action::Create>(action, Topic::leases) || is<action::List>(action, Topic::leases) ||
                        is<action::WatchChildren>(action, Topic::leases);
    return leases ? "/leases" : is<action::List>(action, Topic::path) ? "/path" : "";
  }
  static std::string name_of_action(const Action& action) {
    static const char* const kNames[] = {
        "AwaitSession", "Create",       "List", "Look", "WatchNode", "WatchChildren", "Unwatch", "Probe",    "Unprobe",
        "Remove",       "RaiseVersion", "Mark", "Wait", "Timer",     "MakeHold",      "Fail",    "NotServed"};
    static_assert(std::size(kNames) == std::variant_size_v<Action>, "a name for each action");
    return kNames[action.index()];
  }

  template <class Wanted>
  Wanted take(Topic topic) {
    const auto found =
        std::find_if(pending_.begin(), pending_.end(), [&](const Action& action) { return is<Wanted>(action, topic); });
    if (found == pending_.end()) {
      ADD_FAILURE() << "nothing to answer after" << trail_;
      return {};
    }
    Wanted taken = std::get<Wanted>(*found);
    pending_.erase(found);
    return taken;
  }

  void perform(const Action& action) {
    EXPECT_TRUE(!ended_ && !awaiting_) << "an action behind the end after" << trail_;
    std::visit([&](const auto& what) { note(what); }, action);
  }
  void note(const action::AwaitSession&) {
    expect_nothing_left();
    pending_.clear();
    timers_.clear();
    awaiting_ = true;
    in_attempt_ = false;
  }
  void note(const action::Create& action) {
    if (action.topic == Topic::line) topic_path_ = action.spec.parent;
    folders_.insert(action.spec.parent);
    pending_.push_back(action);
  }
  void note(const action::WatchNode& action) {
    EXPECT_TRUE(watches_.insert(Topic::line).second) << "watched twice after" << trail_;
    pending_.push_back(action);
  }
  void note(const action::WatchChildren& action) {
    EXPECT_TRUE(watches_.insert(action.topic).second) << "watched twice after" << trail_;
    pending_.push_back(action);
  }
  void note(const action::Unwatch& action) {
    EXPECT_EQ(watches_.erase(action.topic), 1U) << "no watch to take back after" << trail_;
    // The answer to a watch that was taken back is not reported.
    const auto answered = [&](const Action& one) {
      return is<action::WatchChildren>(one, action.topic) ||
             (action.topic == Topic::line && is<action::WatchNode>(one, {}));
    };
    pending_.erase(std::remove_if(pending_.begin(), pending_.end(), answered), pending_.end());
  }
  void note(const action::Probe&) { EXPECT_FALSE(std::exchange(probing_, true)) << "probed twice after" << trail_; }
  void note(const action::Unprobe&) { EXPECT_TRUE(std::exchange(probing_, false)) << "no probe after" << trail_; }
  void note(const action::Remove& action) {
    EXPECT_EQ(known_.count(action.path), 1U) << action.path << " is not ours to remove after" << trail_;
    live_.erase(action.path);
    removed_.push_back(action.path);
  }
  void note(const action::Mark& action) { EXPECT_EQ(folders_.count(action.path), 1U) << trail_; }
  void note(const action::Timer& action) { timers_.insert(action.id); }
  void note(const action::Wait& action) { waits_.push_back(action.queue_position); }
  void note(const action::Fail& action) {
    failed_ = action;
    end();
  }
  void note(const action::NotServed&) {
    not_served_ = true;
    end();
  }
  template <class Asked>  // Create apart: List, Look, RaiseVersion, MakeHold
  void note(const Asked& action) {
    pending_.push_back(action);
  }
  void end() {
    expect_nothing_left();
    pending_.clear();
    timers_.clear();
    ended_ = true;
    in_attempt_ = false;
  }
  void expect_nothing_left() const {
    EXPECT_TRUE(live_.empty()) << *live_.begin() << " is left behind after" << trail_;
    EXPECT_TRUE(watches_.empty()) << "a watch is left behind after" << trail_;
    EXPECT_FALSE(probing_) << "a probe is left behind after" << trail_;
  }

  SomeFlow flow_;
  Actions last_;
  std::string trail_;
  std::vector<Action> pending_;  // requests without an answer
  std::set<std::string> live_;   // nodes that must be removed
  std::set<std::string> known_;  // nodes that may be removed
  std::set<std::string> folders_;
  std::vector<std::string> removed_;
  std::vector<int> waits_;  // the positions that were reported
  std::set<Topic> watches_;
  std::set<int> timers_;
  std::string line_node_;
  std::vector<std::string> leases_;  // of this attempt
  std::string topic_path_ = "/";     // of the line
  bool probing_ = false;
  bool awaiting_ = true;
  bool in_attempt_ = false;
  bool ended_ = false;
  bool not_served_ = false;
  std::optional<action::Fail> failed_;
  std::optional<action::MakeHold> granted_;
  int attempts_ = 0;
  int permits_ = 0;  // the last change
};

}  // namespace zkrecipes::detail
