// SPDX-License-Identifier: Apache-2.0
#include "recipes/make_core.h"

#include <stdexcept>
#include <utility>

#include "recipes/node_data.h"
#include "recipes/queue_flow.h"
#include "recipes/simple_flow.h"

namespace zkrecipes::detail {

namespace {

// As for the identity: far more than people read, and far less than a server's default jute.maxbuffer.
constexpr std::size_t kMaxNoteBytes = 64 * 1024;

/// The lines for people in the nodes of a lock. Throws std::invalid_argument if its options are bad.
std::string checked_data(const Client& client, const LockOptions& options) {
  if (options.note.size() > kMaxNoteBytes)
    throw std::invalid_argument("zkrecipes: LockOptions::note has " + std::to_string(options.note.size()) +
                                " bytes; at most " + std::to_string(kMaxNoteBytes) + " are allowed");
  if (options.acl) client.check_acl(*options.acl, "LockOptions::acl");
  return data_for_people(client.identity(), options.note);
}

template <class SomeFlow, class Spec>
std::unique_ptr<LockCore> make_core(const std::shared_ptr<Client>& client, const std::string& path, Spec spec) {
  return std::make_unique<LockCore>(client, path,
                                    [spec = std::make_shared<const Spec>(std::move(spec))](Patience patience) {
                                      return std::make_unique<SomeFlow>(spec, patience);
                                    });
}

}  // namespace

std::unique_ptr<LockCore> make_queue_core(const std::shared_ptr<Client>& client, const std::string& path, NodeKind kind,
                                          const LockOptions& options) {
  return make_core<QueueFlow>(client, path, QueueSpec{path, kind, options, checked_data(*client, options)});
}

std::unique_ptr<SemaphoreCore> make_semaphore_core(const std::shared_ptr<Client>& client, const std::string& path,
                                                   int permits, const LockOptions& options) {
  return std::make_unique<SemaphoreCore>(
      client, std::make_shared<const SemaphoreSpec>(path, options, checked_data(*client, options)), permits);
}

std::unique_ptr<LockCore> make_simple_core(const std::shared_ptr<Client>& client, const std::string& path,
                                           const LockOptions& options) {
  return make_core<SimpleFlow>(client, path, SimpleSpec{path, options, checked_data(*client, options)});
}

}  // namespace zkrecipes::detail
