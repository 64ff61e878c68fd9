// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tests/simulation/model/data_tree.h"
#include "tests/simulation/model/ensemble.h"

namespace zkrecipes::simulation {

/// Makes transactions of requests at the leader, which decides what they do before they are committed. So it looks at
/// the leader's tree through the changes that are proposed and not applied yet.
class RequestPreparer {
 public:
  RequestPreparer(const DataTree& tree, Random& random, ModelMistake mistake)
      : tree_(tree), random_(random), mistake_(mistake) {}

  /// The session was found valid. `transaction` has its zxid, time and request; everything else is filled in.
  void prepare(Transaction& transaction);
  /// The leader has applied everything up to that zxid.
  void applied(std::int64_t zxid);
  void clear();

 private:
  /// A node as it will be.
  struct Record {
    std::string path;
    std::int64_t zxid = 0;
    std::int64_t owner = 0;
    std::int32_t version = 0;
    std::int32_t cversion = 0;
    std::int32_t children = 0;
    bool exists = false;
    bool container = false;
  };

  Record record_of(std::string_view path) const;
  void change(Record record, std::int64_t zxid);
  void prepare_create(Transaction& transaction, const detail::Request& request);
  void prepare_remove(Transaction& transaction, const std::string& path, std::int32_t version, bool only_container);
  void prepare_set(Transaction& transaction, const detail::Request& request);
  void prepare_close(Transaction& transaction);

  const DataTree& tree_;
  Random& random_;
  const ModelMistake mistake_;
  std::deque<Record> changes_;                                   // in the order of transactions
  std::unordered_map<std::string_view, const Record*> by_path_;  // the last one of each path
};

}  // namespace zkrecipes::simulation
