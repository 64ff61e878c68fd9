// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/locks/design.h"

#include <algorithm>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <zkrecipes/fair_mutex.h>
#include <zkrecipes/simple_lock.h>

#include "bench/comparison/locks/etcd_lock.h"
#include "bench/comparison/locks/postgres_insert_lock.h"
#include "bench/comparison/locks/postgres_row_lock.h"
#include "bench/comparison/locks/redis_px_lock.h"
#include "bench/comparison/locks/redis_setnx_lock.h"
#include "bench/comparison/locks/redlock.h"
#include "bench/comparison/locks/zookeeper_lock.h"

namespace comparison {

const std::vector<Design>& designs() {
  static const std::vector<Design> all{
      {"pg-row", "PostgreSQL row lock", false, false},
      {"pg-insert", "PostgreSQL unique insert", false, false},
      {"redis-setnx", "Redis SETNX, no expiry", false, false},
      {"redis-px", "Redis SET NX PX", true, false},
      {"redlock", "Redlock, five Redis", true, false},
      {"etcd", "etcd lock, lease", false, false},
      {"zk-simple", "ZooKeeper simple", false, false},
      {"zk-fair", "ZooKeeper fair", false, false},
      {"zk-fenced", "ZooKeeper fair, token checked", false, true},
  };
  return all;
}

const Design* find_design(const std::string& key) {
  const auto found =
      std::find_if(designs().begin(), designs().end(), [&](const Design& design) { return design.key == key; });
  return found == designs().end() ? nullptr : &*found;
}

std::unique_ptr<Lock> make_lock(const Design& design, const std::string& endpoints, const std::string& name,
                                std::chrono::milliseconds lease) {
  if (design.key == "pg-row") return std::make_unique<PostgresRowLock>(endpoints, name);
  if (design.key == "pg-insert") return std::make_unique<PostgresInsertLock>(endpoints, name);
  if (design.key == "redis-setnx") return std::make_unique<RedisSetnxLock>(endpoints, name);
  if (design.key == "redis-px") return std::make_unique<RedisPxLock>(endpoints, name, lease);
  if (design.key == "etcd") return std::make_unique<EtcdLock>(endpoints, name, lease);
  if (design.key == "zk-simple") return std::make_unique<ZookeeperLock<zkrecipes::SimpleLock>>(endpoints, name, lease);
  if (design.key != "redlock") return std::make_unique<ZookeeperLock<zkrecipes::FairMutex>>(endpoints, name, lease);
  std::vector<std::string> servers;
  boost::algorithm::split(servers, endpoints, boost::algorithm::is_any_of(","));
  return std::make_unique<Redlock>(servers, name, lease);
}

}  // namespace comparison
