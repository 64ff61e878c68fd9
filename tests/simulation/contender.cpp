// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/contender.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "zkrecipes/error.h"

namespace zkrecipes::simulation {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The news of a lost hold must have come by then, if the process was awake all the time.
constexpr seconds kNewsPatience{2};

LockKind kind_of(LockFamily family) {
  switch (family) {
    case LockFamily::fair:
      return LockKind::fair;
    case LockFamily::simple:
      return LockKind::simple;
    case LockFamily::semaphore:
      return LockKind::semaphore;
    case LockFamily::read_write:
      return LockKind::write;
  }
  return LockKind::fair;
}

/// Notes that look like the lines for programs in the data of nodes, and one for no note.
const std::string& note_of(int process) {
  static const std::vector<std::string> kNotes = {"",
                                                  "nightly\nbackup",
                                                  "token=1",
                                                  "x\ntoken=1",
                                                  "0f8fad5b-d9cb-469f-a165-70867728950e",
                                                  "x\n0f8fad5b-d9cb-469f-a165-70867728950e"};
  return kNotes[static_cast<std::size_t>(process) % kNotes.size()];
}

}  // namespace

/// A hold, or what a thread has of a re-entrant lock, and its entry in the books of the checker.
class Contender::ActiveHold final : public Believer {
 public:
  ActiveHold(Contender& owner, LockKind kind, Hold hold, bool downgraded)
      : ActiveHold(owner, kind, std::move(hold), nullptr, downgraded) {}
  ActiveHold(Contender& owner, std::unique_ptr<SimulatedReentrantHold> reentrant)
      : ActiveHold(owner, LockKind::write, Hold(), std::move(reentrant), false) {}
  ~ActiveHold() override { owner_.stage_.checker.released(owner_.path_.id, id_); }

  bool believes() const override { return valid_until() > owner_.world_->now(); }
  const std::string& node() const override { return full_node_ = owner_.full(own_node()); }
  std::vector<std::string> nodes() const override {
    if (reentrant_) return {node()};
    return owner_.full(nodes_of(hold_));
  }
  const Hold& hold() const { return hold_; }
  bool is_reentrant() const { return reentrant_ != nullptr; }
  SimulatedReentrantHold& reentrant() { return *reentrant_; }

  bool is_valid() const { return reentrant_ ? reentrant_->is_valid() : hold_.is_valid(); }
  Clock::time_point valid_until() const { return reentrant_ ? reentrant_->valid_until() : hold_.valid_until(); }
  FencingToken token() const { return reentrant_ ? reentrant_->token() : hold_.token(); }
  std::string own_node() const { return reentrant_ ? reentrant_->node() : hold_.node(); }
  Subscription on_lost(std::function<void()> callback) {
    return reentrant_ ? reentrant_->on_lost_shared(std::move(callback)) : hold_.on_lost(std::move(callback));
  }

  /// The program reads from now on and does not write any more.
  void reads_only() {
    const auto write = std::exchange(id_, enter(LockKind::read, true));
    owner_.stage_.checker.released(owner_.path_.id, write);
  }

 private:
  ActiveHold(Contender& owner, LockKind kind, Hold hold, std::unique_ptr<SimulatedReentrantHold> reentrant,
             bool downgraded)
      : owner_(owner), hold_(std::move(hold)), reentrant_(std::move(reentrant)), id_(enter(kind, downgraded)) {}
  LockChecker::HoldId enter(LockKind kind, bool downgraded) {
    return owner_.stage_.checker.taken(
        owner_.path_.id, {owner_.process_.number(), kind, token(), this, downgraded, owner_.wanted_, owner_.retained_});
  }

  const Contender& owner_;
  Hold hold_;  // empty if it is re-entrant
  const std::unique_ptr<SimulatedReentrantHold> reentrant_;
  mutable std::string full_node_;  // a re-entrant one changes it
  LockChecker::HoldId id_;
};

Contender::Contender(Stage& stage, std::shared_ptr<SimulatedWorld> world, const LockPath& path, bool chrooted,
                     EventChecker& events)
    : stage_(stage),
      world_(std::move(world)),
      process_(world_->process()),
      path_(path),
      chrooted_(chrooted),
      events_(events),
      random_(stage.scheduler.random().next()) {}

Contender::~Contender() = default;

void Contender::use(const SimulatedConnection& connection) {
  connection_ = &connection;
  has_executor_ = connection.has_executor();
  LockOptions options;
  options.look_ahead = path_.family != LockFamily::simple && random_.chance(0.5);
  // Long enough to be taken over, and so long that faults hit the idle node.
  if (path_.family == LockFamily::fair && !path_.version_token && random_.chance(0.5))
    options.retain = std::chrono::duration_cast<milliseconds>(
        random_.chance(0.5) ? random_.between(milliseconds(1), milliseconds(500))
                            : random_.between(milliseconds(1), 2 * stage_.session_timeout));
  retain_ = options.retain;
  options.version_token = path_.version_token;
  options.note = note_of(process_.number());
  large_note_ = stage_.ensemble.options().max_request_bytes <= kSmallBuffer && random_.chance(0.1);
  if (large_note_) options.note = std::string(kLargeNote, 'n');
  if (random_.chance(0.3))
    options.on_revoke = [self = std::weak_ptr<Contender*>(self_)](const std::string& node) {
      if (const auto alive = self.lock()) (*alive)->on_revoke(node);
    };
  const std::string path = chrooted_ ? path_.path.substr(kRootPath.size()) : path_.path;
  number_ = path_.permits;
  lock_ = std::make_unique<SimulatedLock>(connection, kind_of(path_.family), path, number_, options);
  if (path_.family == LockFamily::read_write)
    reader_ = std::make_unique<SimulatedLock>(connection, LockKind::read, path, path_.permits, options);
}

void Contender::start() {
  later(random_.between({}, milliseconds(100)), &Contender::begin);
}

/// Runs a step of the current attempt.
void Contender::later(Time delay, void (Contender::*step)()) {
  process_.post(delay, [this, attempt = attempt_, step] {
    if (attempt == attempt_) (this->*step)();
  });
}

LockKind Contender::draw_kind() {
  if (path_.family == LockFamily::read_write && random_.chance(0.4)) return LockKind::read;
  return kind_of(path_.family);
}

// ---- Waiting ----

AcquireOptions Contender::draw_options() {
  AcquireOptions options;
  stoppable_ = random_.chance(0.5);
  if (stoppable_) {
    stop_ = StopSource();
    options.stop = stop_.token();
  }
  if (random_.chance(0.1))
    options.deadline =
        world_->now() + (random_.chance(0.2) ? Time::zero() : random_.between({}, stage_.session_timeout));
  deadline_ = options.deadline;
  return options;
}

void Contender::begin() {
  if (winding_down_) return;
  if (random_.chance(0.01)) use(*connection_);  // another lock object in place of this one
  ++attempt_;
  kind_ = draw_kind();
  began_ = stage_.scheduler.now();
  began_by_own_clock_ = world_->now();
  cancelled_ = drops_in_callback_ = downgrading_ = revoked_ = lost_ = false;
  too_large_ = large_note_;
  const AcquireOptions options = draw_options();
  try {
    if (random_.chance(0.05)) change_permits();
    wanted_ = 1 + static_cast<int>(random_.below(static_cast<std::uint64_t>(number_)));
    pending_ = (kind_ == LockKind::read ? *reader_ : *lock_).acquire_async(options, wanted_);
  } catch (const ConnectionClosed&) {
    return later(milliseconds(50), &Contender::begin);  // until use() brings another connection
  }
  events_.begun();
  state_ = State::waiting;
  pending_.on_ready([this, attempt = attempt_](AcquireResult result) { on_ready(attempt, std::move(result)); });
  stage_.note(RunTrace::wait, process_.number(), [&] {
    return process_name(process_.number()) + " asks for " + to_string(kind_) + " " + path_.path +
           (wanted_ > 1 ? ", " + std::to_string(wanted_) + " permits" : "");
  });
  if (random_.chance(0.1)) later(random_.between({}, milliseconds(100)), &Contender::change_permits);
  plan_to_give_up();
}

void Contender::plan_to_give_up() {
  const double manner = random_.fraction();
  if (manner < 0.8) return;  // patient
  const Time patience =
      random_.chance(0.5) ? random_.between({}, milliseconds(30)) : random_.between({}, stage_.session_timeout);
  if (manner < 0.9)
    later(patience, &Contender::give_up);
  else if (manner < 0.96)
    later(patience, &Contender::cancel);
  else if (manner < 0.98)
    give_up();
  else
    drops_in_callback_ = true;
}

void Contender::give_up() {
  if (state_ != State::waiting || winding_down_) return;
  stage_.note(RunTrace::wait, process_.number(),
              [&] { return process_name(process_.number()) + " gives up on " + path_.path; });
  pending_ = PendingHold();
  rest();
}

void Contender::cancel() {
  if (state_ != State::waiting || winding_down_) return;
  stage_.note(RunTrace::wait, process_.number(),
              [&] { return process_name(process_.number()) + " cancels its wait for " + path_.path; });
  cancelled_ = true;
  if (stoppable_)
    stop_.request_stop();
  else
    pending_.cancel();
}

/// Never more than the path has: the checker counts with that number.
void Contender::change_permits() {
  if (path_.family != LockFamily::semaphore || winding_down_) return;
  number_ = 1 + static_cast<int>(random_.below(static_cast<std::uint64_t>(path_.permits)));
  stage_.note(RunTrace::wait, process_.number(), [&] {
    return process_name(process_.number()) + " counts " + std::to_string(number_) + " permits of " + path_.path;
  });
  lock_->set_permits(number_);
}

void Contender::on_ready(std::uint64_t attempt, AcquireResult result) {
  if (attempt != attempt_ || state_ != State::waiting)
    return report("on_ready was called twice, or after its PendingHold was destroyed");
  if (!pending_.ready()) return report("on_ready was called before the PendingHold was ready");
  if (drops_in_callback_) {
    pending_ = PendingHold();
    return rest();
  }
  switch (result.status()) {
    case AcquireStatus::granted:
      take(*std::move(result));
      if (random_.chance(0.5)) pending_ = PendingHold();
      return;
    case AcquireStatus::stopped:
      if (!cancelled_) report("an acquire that nobody has stopped says that it was");
      return rest();
    case AcquireStatus::timed_out:
    case AcquireStatus::not_connected:
    case AcquireStatus::busy:
      if (world_->now() < deadline_)
        report(std::string("an acquire was given up ahead of its time: ") + zkrecipes::to_string(result.status()));
      return rest();
    case AcquireStatus::failed:
      break;
  }
  try {
    std::rethrow_exception(result.error());
  } catch (const ConnectionClosed&) {
    if (!stage_.closing && closed_attempt_ != attempt)
      report("an acquire ended with ConnectionClosed, but nobody has closed the connection");
    rest();
  } catch (const std::exception& error) {
    const auto* const known = dynamic_cast<const Error*>(&error);
    const bool too_few = known != nullptr && known->code() == ErrorCode::too_few_permits && wanted_ > number_;
    const bool too_large = known != nullptr && known->code() == ErrorCode::too_large && too_large_;
    if (!too_few && !too_large) report(std::string("an acquire failed: ") + error.what());
    rest();
  }
}

void Contender::connection_closed() {
  if (state_ != State::waiting) return;
  if (!has_executor_) report("the connection is closed, and on_ready was not called for an acquire that waited");
  closed_attempt_ = attempt_;
}

// ---- Holding ----

void Contender::take(Hold hold) {
  state_ = State::holding;
  if (!hold) {
    report("an acquire ended with an empty hold");
    return rest();
  }
  // A stop that is requested after the grant, and before the callback, changes nothing.
  if (cancelled_ && !stoppable_) report("a hold was handed out although its PendingHold was cancelled");
  retained_ = std::exchange(last_node_, hold.node()) == hold.node();
  if (retained_) check_take_over(hold);
  if (kind_ == LockKind::write && random_.chance(0.4))
    active_ = std::make_unique<ActiveHold>(*this, lock_->reentrant(std::move(hold)));
  else
    active_ = std::make_unique<ActiveHold>(*this, kind_, std::move(hold), false);
  stage_.note(RunTrace::hold, process_.number(), [&] {
    return process_name(process_.number()) + " is granted " + to_string(kind_) + " " + active_->node() + ", token " +
           active_->token().to_string() + (active_->believes() ? "" : " (too late to be valid)");
  });
  if (random_.chance(0.7)) {
    const auto owned = std::make_shared<int>();
    owned_by_callback_ = owned;
    listens_ = true;
    subscription_ = active_->on_lost([this, attempt = attempt_, owned] { on_lost(attempt); });
  }
  if (active_->is_reentrant())
    write_subscription_ = active_->reentrant().on_lost([this, attempt = attempt_] {
      if (attempt == attempt_ && kind_ != LockKind::write) report("on_lost was called after the write was unlocked");
    });
  const Time duration = hold_time();
  if (duration == Time::zero()) return release();
  if (kind_ == LockKind::write && random_.chance(0.4)) later(random_.between({}, duration / 2), &Contender::downgrade);
  if (duration > milliseconds(500)) later(random_.between({}, duration), &Contender::look);
  later(duration, &Contender::release);
}

Time Contender::hold_time() {
  const double draw = random_.fraction();
  if (winding_down_ || draw < 0.2) return random_.chance(0.5) ? Time::zero() : Time(milliseconds(1));
  const Time timeout = stage_.session_timeout;
  if (!path_.slow) return random_.between({}, draw < 0.98 ? Time(milliseconds(5)) : timeout / 4);
  if (draw < 0.5) return random_.between({}, milliseconds(200));
  if (draw < 0.8) return random_.between({}, timeout);
  return random_.between(timeout / 2, (stage_.calm ? 4 : 2) * timeout);
}

void Contender::look() {
  if (state_ != State::holding) return;
  if (active_->is_valid() && !active_->believes()) report("a hold says that it is valid beyond valid_until()");
  check_news_of_loss();
  check_note();
}

void Contender::on_lost(std::uint64_t attempt) {
  if (attempt != attempt_ || state_ != State::holding || !listens_)
    return report("on_lost was called after its subscription ended");
  if (std::exchange(lost_, true)) return report("on_lost was called twice");
  if (active_->believes()) report("on_lost was called while the hold was valid");
  stage_.note(RunTrace::hold, process_.number(),
              [&] { return process_name(process_.number()) + " hears that it has lost " + active_->node(); });
  // A program that reacts at once, or one that takes its time.
  if (random_.chance(0.7)) later(random_.between({}, milliseconds(10)), &Contender::release);
}

void Contender::on_revoke(const std::string& node) {
  // An executor that keeps no order may run it ahead of on_ready.
  if (has_executor_ && state_ == State::waiting && pending_.ready()) return;
  if (state_ != State::holding || active_->own_node() != node)
    return report("on_revoke was called for " + node + ", which is not held any more");
  if (!std::exchange(revoked_, true) && random_.chance(0.7))
    later(random_.between({}, milliseconds(10)), &Contender::release);
}

void Contender::downgrade() {
  if (state_ != State::holding || downgrading_ || kind_ != LockKind::write) return;
  if (active_->is_reentrant()) return read_on();
  downgrading_ = true;
  lock_->downgrade_async(active_->hold(),
                         [self = std::weak_ptr<Contender*>(self_), attempt = attempt_](Hold read) mutable {
                           const auto alive = self.lock();
                           if (alive && (*alive)->attempt_ == attempt) (*alive)->downgraded(std::move(read));
                         });
}

/// As a program with a re-entrant lock: reads in the write, then unlocks the write and waits for nothing.
void Contender::read_on() {
  SimulatedReentrantHold& held = active_->reentrant();
  held.lock_shared();
  if (random_.chance(0.3)) {
    held.lock();
    held.unlock();
  }
  stage_.note(RunTrace::hold, process_.number(), [&] {
    return process_name(process_.number()) + " unlocks the write of " + active_->node() + " and reads on";
  });
  active_->reads_only();
  kind_ = LockKind::read;
  held.unlock();
  // Also while the downgrade is under way.
  if (random_.chance(0.3)) later(random_.between({}, milliseconds(3)), &Contender::release);
}

void Contender::downgraded(Hold read) {
  downgrading_ = false;
  if (!read) return;
  end_subscription();
  auto reader = std::make_unique<ActiveHold>(*this, LockKind::read, std::move(read), true);
  stage_.note(RunTrace::hold, process_.number(), [&] {
    return process_name(process_.number()) + " turns " + active_->node() + " into a read hold, " + reader->node();
  });
  kind_ = LockKind::read;
  active_ = std::move(reader);
}

void Contender::check_news_of_loss() {
  if (lost_ || !listens_ || active_->believes()) return;
  const auto late = world_->now() - active_->valid_until();
  if (late > kNewsPatience && process_.clock() - world_->awake_since() > kNewsPatience)
    report("a hold was lost more than " + std::to_string(kNewsPatience.count()) + " s ago, and on_lost was not called");
}

/// In one of the ways that the API has. Not inside the callback, so in each of them nothing is left of the callback.
void Contender::end_subscription() {
  listens_ = false;
  switch (random_.below(3)) {
    case 0:
      subscription_.disconnect();
      break;
    case 1:
      subscription_.disconnect_and_wait();
      break;
    default:
      subscription_ = Subscription();
  }
  if (!owned_by_callback_.expired()) report("what on_lost owns is still there after its subscription ended");
}

void Contender::check_note() {
  if (!active_->hold().is_valid()) return;
  const auto node = stage_.ensemble.find_node(active_->node());
  if (!node || node->czxid != active_->hold().token().zxid) return;  // deleted by a fault, or a downgraded read node
  const auto note = note_in(node->data);
  if (note && *note != note_of(process_.number())) report("a node has the note \"" + *note + "\", not its own");
}

/// A node that has stayed since the hold before.
void Contender::check_take_over(const Hold& hold) {
  if (path_.family != LockFamily::fair) return;  // the path of a simple lock is its node
  // Not at the same moment: the connection may have been closed between the request and now.
  if (hold.valid_until() < began_by_own_clock_)
    report("an idle node was taken over although its lease was over by then");
  if (!random_.chance(0.3)) return;
  // Events are received before the answers that renew the lease, so the holder has heard of whoever came before those.
  const Time long_ago = stage_.scheduler.now() - 2 * stage_.session_timeout;
  stage_.ensemble.for_each_node([&](const Ensemble::Node& node) {
    if (node.owner == 0 || node.czxid <= hold.token().zxid) return;
    if (node.path.substr(0, path_.path.size() + 1) != path_.path + "/") return;
    const auto created = stage_.created_at.find(std::string(node.path));
    if (created != stage_.created_at.end() && created->second < long_ago)
      report("an idle node was taken over again, although " + std::string(node.path) + " has been waiting behind it");
  });
}

void Contender::release() {
  if (state_ != State::holding) return;
  if (downgrading_) return later(milliseconds(1), &Contender::release);
  look();
  stage_.note(RunTrace::hold, process_.number(), [&] {
    return process_name(process_.number()) + " releases " + active_->node() +
           (active_->believes() ? "" : ", which was not valid any more");
  });
  end_subscription();
  write_subscription_.disconnect();
  active_ = nullptr;
  rest();
}

void Contender::rest() {
  ++attempt_;
  state_ = State::idle;
  Time most = milliseconds(path_.slow ? 1'000 : stage_.calm ? 600 : 40);
  if (random_.chance(0.1)) most = std::max(most, retain_);  // so long that faults hit the idle node
  later(random_.between({}, most), &Contender::begin);
}

std::string Contender::describe() const {
  const auto age = std::to_string((stage_.scheduler.now() - began_).count() / 1'000'000) + " ms";
  switch (state_) {
    case State::idle:
      return "idle";
    case State::waiting:
      return process_name(process_.number()) + " has been waiting for " + to_string(kind_) + " " + path_.path +
             " for " + age;
    case State::holding:
      return process_name(process_.number()) + " asked for " + to_string(kind_) + " " + path_.path + " " + age +
             " ago and has not released it";
  }
  return {};
}

std::string Contender::full(const std::string& node) const {
  return chrooted_ ? kRootPath + node : node;
}

std::vector<std::string> Contender::full(std::vector<std::string> nodes) const {
  for (std::string& node : nodes) node = full(node);
  return nodes;
}

void Contender::report(const std::string& what) {
  stage_.checker.report(process_name(process_.number()) + ", " + to_string(kind_) + ": " + what, path_.id,
                        {process_.number()});
}

}  // namespace zkrecipes::simulation
