// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/raw_c/raw_lock.h"

#include <cstring>
#include <utility>

namespace bench {

namespace {

constexpr std::size_t kDigits = 10;  // of a sequence number

/// Sequence numbers have a fixed width, so that they compare as text.
const char* sequence(const char* name) {
  const std::size_t length = std::strlen(name);
  return length < kDigits ? name : name + length - kDigits;
}

RawLock* lock_of(const void* context) {
  return static_cast<RawLock*>(const_cast<void*>(context));
}

}  // namespace

RawLock::RawLock(const std::string& address, std::string path)
    : path_(std::move(path)), prefix_(path_ + "/lock-"), session_(address) {
  session_.make_path(path_);
}

void RawLock::lock() {
  check(zoo_acreate2(session_.handle(), prefix_.c_str(), nullptr, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL,
                     &on_created, this),
        "create");
  list();
  await(&RawLock::granted_);
}

void RawLock::unlock() {
  check(zoo_adelete(
            session_.handle(), node_.c_str(), -1, [](int, const void*) {}, nullptr),
        "delete");
}

void RawLock::unlock_confirmed() {
  check(zoo_adelete(session_.handle(), node_.c_str(), -1, &on_deleted, this), "delete");
  await(&RawLock::deleted_);
}

void RawLock::list() {
  check(zoo_aget_children(session_.handle(), path_.c_str(), 0, &on_listed, this), "list");
}

/// Is ours the lowest number? Else wait for the highest below it.
void RawLock::decide(const String_vector& names) {
  const char* const mine = sequence(node_.c_str());
  const char* predecessor = nullptr;
  int ahead = 0;
  for (int i = 0; i < names.count; ++i) {
    if (std::strcmp(sequence(names.data[i]), mine) >= 0) continue;
    ++ahead;
    if (predecessor == nullptr || std::strcmp(sequence(names.data[i]), sequence(predecessor)) > 0)
      predecessor = names.data[i];
  }
  if (predecessor == nullptr) return set(&RawLock::granted_);
  only_one_ahead_ = ahead == 1;
  const std::string watched = path_ + "/" + predecessor;
  check(zoo_awget(session_.handle(), watched.c_str(), &on_predecessor_event, this, &on_predecessor_read, this),
        "watch");
}

void RawLock::predecessor_gone() {
  if (only_one_ahead_)
    set(&RawLock::granted_);
  else
    list();
}

// ---- What the C client calls ----

void RawLock::on_created(int rc, const char* path, const Stat* /*stat*/, const void* self) {
  check(rc, "create");
  lock_of(self)->node_ = path;
}

void RawLock::on_listed(int rc, const String_vector* names, const void* self) {
  check(rc, "list");
  lock_of(self)->decide(*names);
}

void RawLock::on_predecessor_read(int rc, const char* /*value*/, int /*length*/, const Stat* /*stat*/,
                                  const void* self) {
  if (rc == ZNONODE) return lock_of(self)->predecessor_gone();
  check(rc, "watch");
}

void RawLock::on_predecessor_event(zhandle_t* /*handle*/, int type, int /*state*/, const char* /*path*/, void* self) {
  if (type == ZOO_DELETED_EVENT) lock_of(self)->predecessor_gone();
}

void RawLock::on_deleted(int rc, const void* self) {
  check(rc, "delete");
  lock_of(self)->set(&RawLock::deleted_);
}

// ---- Between the threads ----

void RawLock::set(bool RawLock::*flag) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    this->*flag = true;
  }
  changed_.notify_one();
}

void RawLock::await(bool RawLock::*flag) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return this->*flag; });
  this->*flag = false;
}

}  // namespace bench
