// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/locks/etcd_lock.h"

#include "bench/comparison/locks/polling.h"

namespace comparison {
namespace {

using Clock = std::chrono::steady_clock;

std::string object(const std::string& name, const std::string& value) {
  return "{\"" + name + "\": \"" + value + "\"}";
}

std::chrono::milliseconds whole_seconds(std::chrono::milliseconds time) {
  return std::chrono::ceil<std::chrono::seconds>(time);
}

}  // namespace

EtcdLock::EtcdLock(const std::string& endpoint, const std::string& name, std::chrono::milliseconds lease)
    : name_(to_base64(name)), lease_time_(whole_seconds(lease)), client_(endpoint), keeper_(endpoint), thread_([this] {
        keep_alive();
      }) {}

EtcdLock::~EtcdLock() {
  {
    const std::lock_guard guard(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
  if (!lease_.empty()) client_.post("lease/revoke", object("ID", lease_));
}

std::string EtcdLock::lease() {
  {
    const std::lock_guard guard(mutex_);
    if (!lease_.empty()) return lease_;
  }
  const auto sent = Clock::now();
  const auto granted = client_.post("lease/grant", object("TTL", std::to_string(lease_time_.count() / 1000)));
  if (!granted) return {};
  const std::lock_guard guard(mutex_);
  lease_ = granted->get<std::string>("ID", "");
  valid_until_ = sent + std::chrono::seconds(granted->get<int>("TTL", 0));
  return lease_;
}

void EtcdLock::keep_alive() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, lease_time_ / 3, [this] { return ending_; })) {
    const std::string lease = lease_;
    if (lease.empty()) continue;
    lock.unlock();
    const auto sent = Clock::now();
    const auto answer = keeper_.post("lease/keepalive", object("ID", lease), lease_time_ / 3);
    lock.lock();
    if (!answer) continue;  // no news is not the end of it; the next attempt will tell
    const int seconds = answer->get<int>("result.TTL", 0);
    if (seconds > 0)
      valid_until_ = sent + std::chrono::seconds(seconds);
    else
      lease_.clear();
  }
}

void EtcdLock::acquire() {
  poll_until([this] {  // once, but for outages: the server answers when it is this contender's turn
    const std::string id = lease();
    if (id.empty()) return false;
    const auto forever = std::chrono::milliseconds::zero();
    const auto locked = client_.post("lock/lock", "{\"name\": \"" + name_ + "\", \"lease\": \"" + id + "\"}", forever);
    if (!locked) return false;
    key_ = locked->get<std::string>("key", "");
    return !key_.empty();
  });
}

bool EtcdLock::release() {
  // As lock/unlock, but this request says whether the key still existed.
  const auto answer = client_.post("kv/deleterange", object("key", key_));
  key_.clear();
  return answer && answer->get<int>("deleted", 0) == 1;
}

bool EtcdLock::is_held() {
  const std::lock_guard guard(mutex_);
  return !key_.empty() && !lease_.empty() && Clock::now() < valid_until_;
}

std::optional<std::int64_t> EtcdLock::token() {
  const auto answer = client_.post("kv/range", object("key", key_));
  const auto found = answer ? answer->get_child_optional("kvs") : boost::none;
  if (!found || found->empty()) return std::nullopt;
  return found->front().second.get<std::int64_t>("create_revision");
}

}  // namespace comparison
