// SPDX-License-Identifier: Apache-2.0
#include "recipes/downgrade.h"

#include <utility>

#include "recipes/node_data.h"
#include "recipes/node_name.h"

namespace zkrecipes::detail {

namespace {

std::shared_ptr<HeldNode> make_reader(const HeldNode& write, Grant reader) {
  if (const ObservedAttemptPtr& writer = write.grant().observed) {
    reader.observed = writer->downgraded();
    reader.observed->acquired_by_downgrade(reader.token);
  }
  auto held = HeldNode::make(std::move(reader));
  held->tell_observer();
  return held;
}

}  // namespace

void downgrade(const std::shared_ptr<HeldNode>& write, const LockOptions& options,
               std::function<void(Status, std::shared_ptr<HeldNode>)> done) {
  // The read node takes the writer's place in line: same number, not sequential. The writer's node is removed
  // afterwards, so no writer behind it can get in between.
  const Grant& writer = write->grant();
  const std::string guid = writer.client->world().make_guid();
  CreateSpec create;
  create.parent = parent_of(writer.node);
  create.name = protected_name(guid, NodeKind::read);
  create.name += parse_node_name(name_of(writer.node))->digits;
  create.guid = guid;
  create.mode = CreateMode::ephemeral;
  create.data = data_with_token(data_for_people(writer.client->identity(), options.note), writer.token);
  if (options.acl) create.acl = std::make_shared<const Acl>(*options.acl);

  Grant reader = writer;
  reader.kind = NodeKind::read;
  reader.on_revoke = options.on_revoke;
  reader.observed = nullptr;
  writer.client->create(
      writer.session, std::move(create),
      [write, reader = std::move(reader), done = std::move(done)](Status status, const CreatedNode& node) mutable {
        if (status != Status::ok) return done(status, nullptr);
        reader.node = node.path;
        // If somebody has deleted the write node before, another writer may hold, and the read node stands where
        // nobody looks for it.
        const Grant& former = write->grant();
        former.client->prove(former.session, former.node,
                             [write, reader = std::move(reader), done = std::move(done)](Status there) mutable {
                               if (there == Status::ok) return done(there, make_reader(*write, std::move(reader)));
                               reader.client->remove(reader.session, reader.node, {}, nullptr);
                               done(there, nullptr);
                             });
      });
}

}  // namespace zkrecipes::detail
