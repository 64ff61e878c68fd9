// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/raw_c/raw_many_locks.h"

namespace bench {

RawManyLocks::RawManyLocks(const DriverOptions& options) : session_(options.server) {
  session_.make_path(options.root + "/many");
  left_.start(options.cycles);
  for (long i = 0; i < options.cycles; ++i) {
    const std::string path = options.root + "/many/" + std::to_string(i);
    locks_.push_back(std::make_unique<Lock>(Lock{this, path, path + "/lock-", {}}));
    check(zoo_acreate(session_.handle(), path.c_str(), nullptr, -1, &ZOO_OPEN_ACL_UNSAFE, 0, &on_parent_created,
                      locks_.back().get()),
          "creating the parents");
  }
  left_.wait();
}

void RawManyLocks::run(long /*cycles*/) {
  left_.start(static_cast<long>(locks_.size()));
  for (const auto& lock : locks_) {
    check(zoo_acreate2(session_.handle(), lock->prefix.c_str(), nullptr, -1, &ZOO_OPEN_ACL_UNSAFE,
                       ZOO_EPHEMERAL_SEQUENTIAL, &on_created, lock.get()),
          "create");
    check(zoo_aget_children(session_.handle(), lock->path.c_str(), 0, &on_listed, lock.get()), "list");
  }
  left_.wait();
}

void RawManyLocks::on_parent_created(int rc, const char* /*path*/, const void* lock) {
  if (rc != ZNODEEXISTS) check(rc, "creating the parents");
  static_cast<const Lock*>(lock)->owner->left_.count();
}

void RawManyLocks::on_created(int rc, const char* path, const Stat* /*stat*/, const void* lock) {
  check(rc, "create");
  static_cast<Lock*>(const_cast<void*>(lock))->node = path;
}

void RawManyLocks::on_listed(int rc, const String_vector* names, const void* lock) {
  check(rc, "list");
  if (names->count != 1) check(ZSYSTEMERROR, "somebody else wants the lock");
  const auto* const mine = static_cast<const Lock*>(lock);
  check(zoo_adelete(mine->owner->session_.handle(), mine->node.c_str(), -1, &on_deleted, lock), "delete");
}

void RawManyLocks::on_deleted(int rc, const void* lock) {
  check(rc, "delete");
  static_cast<const Lock*>(lock)->owner->left_.count();
}

}  // namespace bench
