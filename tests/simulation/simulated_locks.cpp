// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/simulated_locks.h"

#include <utility>

#include "connection/node_path.h"
#include "connection/zookeeper_client.h"
#include "recipes/downgrade.h"
#include "recipes/hold.h"
#include "recipes/hold_access.h"
#include "recipes/make_core.h"
#include "recipes/node_data.h"
#include "recipes/reentrant_hold.h"

namespace zkrecipes::simulation {

namespace {

std::unique_ptr<detail::LockCore> make_core(const std::shared_ptr<detail::Client>& client, LockKind kind,
                                            const std::string& path, int permits, const LockOptions& options) {
  using detail::NodeKind;
  switch (kind) {
    case LockKind::fair:
      return detail::make_queue_core(client, path, NodeKind::lock, options);
    case LockKind::read:
      return detail::make_queue_core(client, path, NodeKind::read, options);
    case LockKind::write:
      return detail::make_queue_core(client, path, NodeKind::write, options);
    case LockKind::simple:
      return detail::make_simple_core(client, path, options);
    case LockKind::semaphore:
      return detail::make_semaphore_core(client, path, permits, options);
  }
  return nullptr;
}

}  // namespace

const char* to_string(LockKind kind) {
  switch (kind) {
    case LockKind::fair:
      return "mutex";
    case LockKind::simple:
      return "simple lock";
    case LockKind::semaphore:
      return "semaphore";
    case LockKind::read:
      return "read lock";
    case LockKind::write:
      return "write lock";
  }
  return "unknown";
}

SimulatedConnection::SimulatedConnection(ConnectionOptions options, std::shared_ptr<detail::World> world)
    : has_executor_(options.executor != nullptr),
      client_(detail::ZookeeperClient::connect(std::move(options), std::move(world))) {}

SimulatedConnection::~SimulatedConnection() {
  close();
}

void SimulatedConnection::set_servers(std::string servers) {
  client_->set_servers(std::move(servers));
}

void SimulatedConnection::close() {
  client_->close();
}

SimulatedConnection::Load SimulatedConnection::load() const {
  const auto load = client_->load();
  return {load.requests, load.watches, load.probes, load.timers};
}

SimulatedLock::SimulatedLock(const SimulatedConnection& connection, LockKind kind, const std::string& path, int permits,
                             LockOptions options)
    : client_(connection.client()),
      path_(path),
      options_(std::make_shared<const LockOptions>(std::move(options))),
      core_(make_core(client_, kind, path, permits, *options_)),
      semaphore_(dynamic_cast<detail::SemaphoreCore*>(core_.get())) {}

SimulatedLock::~SimulatedLock() = default;

PendingHold SimulatedLock::acquire_async(const AcquireOptions& options, int permits) {
  return core_->acquire_async(options, permits);
}

void SimulatedLock::set_permits(int permits) {
  semaphore_->set_permits(permits);
}

void SimulatedLock::downgrade_async(const Hold& write, std::function<void(Hold)> done) {
  const detail::SessionPtr session = client_->current_session();
  if (!write.is_valid() || !session) return done(Hold());
  detail::downgrade(detail::HoldAccess::node(write), *options_,
                    [done = std::move(done)](detail::Status status, std::shared_ptr<detail::HeldNode> node) {
                      done(status == detail::Status::ok ? detail::HoldAccess::hold(std::move(node)) : Hold());
                    });
}

std::optional<std::string> note_in(std::string_view data) {
  if (detail::asks_to_revoke(data)) return std::nullopt;
  return detail::note_in(data);
}

std::vector<std::string> nodes_of(const Hold& hold) {
  const auto& held = detail::HoldAccess::node(hold);
  if (!held) return {};
  std::vector<std::string> nodes = held->grant().more_nodes;
  nodes.insert(nodes.begin(), held->grant().node);
  return nodes;
}

std::unique_ptr<SimulatedReentrantHold> SimulatedLock::reentrant(Hold write) const {
  auto held = std::make_unique<detail::ReentrantHold>();
  held->granted_write(std::move(write), *options_);
  return std::make_unique<SimulatedReentrantHold>(std::move(held));
}

SimulatedReentrantHold::SimulatedReentrantHold(std::unique_ptr<detail::ReentrantHold> held) : held_(std::move(held)) {}

SimulatedReentrantHold::~SimulatedReentrantHold() {
  held_->hold()->release();
}

void SimulatedReentrantHold::lock() {
  held_->enter_write();
}

void SimulatedReentrantHold::lock_shared() {
  held_->enter_read();
}

void SimulatedReentrantHold::unlock() {
  held_->leave_write();
}

Subscription SimulatedReentrantHold::on_lost(std::function<void()> callback) {
  return held_->hold()->on_write_lost(std::move(callback));
}

Subscription SimulatedReentrantHold::on_lost_shared(std::function<void()> callback) {
  return held_->hold()->on_lost(std::move(callback));
}

bool SimulatedReentrantHold::is_valid() const {
  return held_->hold()->is_valid();
}

Clock::time_point SimulatedReentrantHold::valid_until() const {
  return held_->hold()->valid_until();
}

FencingToken SimulatedReentrantHold::token() const {
  return held_->hold()->token();
}

std::string SimulatedReentrantHold::node() const {
  return held_->hold()->node();
}

void request_revoke(const SimulatedConnection& connection, const std::string& node) {
  const std::shared_ptr<detail::Client> client = connection.client();
  const detail::SessionPtr session = client->current_session();
  if (!session) return;
  client->sync(session, node, nullptr);
  client->get(session, node, [client, session, node](const detail::Reply& found) {
    if (found.status != detail::Status::ok) return;
    client->set(session, node, detail::revoke_request_for(found.data), found.stat.version, [](const detail::Reply&) {});
  });
}

}  // namespace zkrecipes::simulation
