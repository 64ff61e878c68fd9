// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "recipes/flow.h"
#include "zkrecipes/lock_options.h"

namespace zkrecipes::detail {

/// Shared by the flows of a SimpleLock.
struct SimpleSpec {
  std::string path;
  LockOptions options{};
  std::string identity{};  ///< the data of the node, with the guid: see data_for_people()
};

/// One attempt at a SimpleLock: create the node; if it is there already, watch it, and race again when it is deleted.
/// The guid in the node's data tells our own lost create from another holder of the same session; once the create is
/// answered, the node is known by its czxid.
///
/// A node that we may not read cannot be watched (see QueueFlow). Then its parent's children are watched.
class SimpleFlow final : public Flow {
 public:
  SimpleFlow(std::shared_ptr<const SimpleSpec> spec, Patience patience);

  Actions on(const Event& event) override;

 private:
  enum class Step {
    idle,               // waits for a session
    looking,            // a try: is the node there?
    racing,             // create is sent
    watching,           // for the holder to leave
    looking_at_holder,  // whose node may not be read: is it a lock at all?
    watching_parent,    // for such a holder to leave
    first,              // our node is the one
    over,
  };

  void handle(const event::SessionReady& ready, Actions& out);
  void handle(const event::Looked& looked, Actions& out);
  void handle(const event::Created& created, Actions& out);
  void handle(const event::WatchSet& set, Actions& out);
  void handle(const event::Changed& changed, Actions& out);
  void handle(const event::Granted&, Actions& out);
  void handle(const event::OwnNodeGone&, Actions& out);
  void handle(const event::LeaseOver&, Actions& out) { start_again(out); }
  void handle(const event::SessionOver&, Actions& out);
  void handle(const event::Refused& refused, Actions& out);
  void handle(const event::Left&, Actions& out) { clean_up(Step::over, out); }
  void handle(const event::Listed& listed, Actions& out);
  void handle(const event::VersionRaised&, Actions&) {}   // not asked for
  void handle(const event::TimerFired&, Actions&) {}      // not asked for
  void handle(const event::PermitsChanged&, Actions&) {}  // a semaphore only

  void race(Actions& out);
  void watch_parent(Actions& out);
  void refuse_data_node(Actions& out);
  void start_again(Actions& out);
  void not_served(Actions& out);
  void clean_up(Step next, Actions& out);

  std::shared_ptr<const SimpleSpec> spec_;
  Patience patience_;

  Step step_ = Step::idle;
  std::string guid_;
  std::int64_t czxid_ = 0;  // of our node; 0: there is none
  bool watching_ = false;
  bool positioned_ = false;  // queue_position_ is known
  bool said_wait_ = false;   // in this attempt
  int queue_position_ = 0;
};

}  // namespace zkrecipes::detail
