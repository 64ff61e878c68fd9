// SPDX-License-Identifier: Apache-2.0
#include "recipes/make_core.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "recipes/node_data.h"
#include "recipes/queue_flow.h"
#include "recipes/simple_flow.h"

namespace zkrecipes::detail {

namespace {

// As for the identity: far more than people read, and far less than a server's default jute.maxbuffer.
constexpr std::size_t kMaxNoteBytes = 64 * 1024;
// A label of a time series, which each sample carries along.
constexpr std::size_t kMaxNameBytes = 128;

void check_name(const std::string& name) {
  if (name.size() > kMaxNameBytes)
    throw std::invalid_argument("zkrecipes: LockOptions::name has " + std::to_string(name.size()) + " bytes; at most " +
                                std::to_string(kMaxNameBytes) +
                                " are allowed. A name is for metrics; LockOptions::note takes longer texts");
  if (!std::all_of(name.begin(), name.end(), [](char one) { return one >= ' ' && one <= '~'; }))
    throw std::invalid_argument(
        "zkrecipes: LockOptions::name has a character that is not printable ASCII; a name is for metrics, and "
        "LockOptions::note takes any text");
}

/// Null if nobody observes.
LockInfoPtr make_info(const Client& client, const std::string& path, const LockOptions& options, LockKind kind,
                      LockMode mode) {
  if (!client.observer()) return nullptr;
  return std::make_shared<const LockInfo>(LockInfo{path, options.name, kind, mode});
}

LockInfoPtr make_queue_info(const Client& client, const std::string& path, const LockOptions& options, NodeKind kind) {
  if (kind == NodeKind::lock) return make_info(client, path, options, LockKind::mutex, LockMode::exclusive);
  const LockMode mode = kind == NodeKind::read ? LockMode::read : LockMode::write;
  return make_info(client, path, options, LockKind::read_write, mode);
}

/// The lines for people in the nodes of a lock. Throws std::invalid_argument if its options are bad.
std::string checked_data(Client& client, const LockOptions& options) {
  if (options.note.size() > kMaxNoteBytes)
    throw std::invalid_argument("zkrecipes: LockOptions::note has " + std::to_string(options.note.size()) +
                                " bytes; at most " + std::to_string(kMaxNoteBytes) + " are allowed");
  check_name(options.name);
  if (options.acl) client.check_acl(*options.acl, "LockOptions::acl");
  if (options.on_revoke && !client.in_forked_child()) client.callbacks().start();
  return data_for_people(client.identity(), options.note);
}

/// For the recipes whose node cannot stay between two holds.
void refuse_retain(const LockOptions& options, const char* recipe) {
  if (options.retain.count() != 0)
    throw std::invalid_argument(std::string("zkrecipes: LockOptions::retain is for FairMutex and RecursiveFairMutex, "
                                            "not for ") +
                                recipe);
}

/// A SimpleLock is one node, without a line.
void refuse_what_needs_a_line(const LockOptions& options) {
  if (options.version_token)
    throw std::invalid_argument("zkrecipes: SimpleLock has no node that could count versions; use FairMutex");
  if (options.look_ahead)
    throw std::invalid_argument("zkrecipes: SimpleLock has no line to look ahead in; use FairMutex");
}

void check_retain(const LockOptions& options) {
  if (options.retain.count() < 0)
    throw std::invalid_argument(
        "zkrecipes: LockOptions::retain is negative: " + std::to_string(options.retain.count()) + " ms");
  if (options.retain.count() > 0 && options.version_token)
    throw std::invalid_argument(
        "zkrecipes: LockOptions::retain and version_token exclude each other: the holds of a retained node have one "
        "token, and version_token counts each hold");
}

template <class SomeFlow, class Spec>
std::unique_ptr<LockCore> make_core(const std::shared_ptr<Client>& client, const std::string& path, Spec spec,
                                    LockInfoPtr observed_as) {
  const auto retain = spec.options.retain;
  return std::make_unique<LockCore>(
      client, path,
      [spec = std::make_shared<const Spec>(std::move(spec))](Patience patience) {
        return std::make_unique<SomeFlow>(spec, patience);
      },
      std::move(observed_as), retain);
}

}  // namespace

std::unique_ptr<LockCore> make_queue_core(const std::shared_ptr<Client>& client, const std::string& path, NodeKind kind,
                                          const LockOptions& options) {
  if (kind == NodeKind::lock)
    check_retain(options);
  else
    refuse_retain(options, "a read/write lock");
  return make_core<QueueFlow>(client, path, QueueSpec{path, kind, options, checked_data(*client, options)},
                              make_queue_info(*client, path, options, kind));
}

std::unique_ptr<SemaphoreCore> make_semaphore_core(const std::shared_ptr<Client>& client, const std::string& path,
                                                   int permits, const LockOptions& options) {
  refuse_retain(options, "Semaphore");
  return std::make_unique<SemaphoreCore>(
      client, std::make_shared<const SemaphoreSpec>(path, options, checked_data(*client, options)),
      make_info(*client, path, options, LockKind::semaphore, LockMode::permit), permits);
}

std::unique_ptr<LockCore> make_simple_core(const std::shared_ptr<Client>& client, const std::string& path,
                                           const LockOptions& options) {
  refuse_what_needs_a_line(options);
  refuse_retain(options, "SimpleLock");
  return make_core<SimpleFlow>(client, path, SimpleSpec{path, options, checked_data(*client, options)},
                               make_info(*client, path, options, LockKind::simple, LockMode::exclusive));
}

}  // namespace zkrecipes::detail
