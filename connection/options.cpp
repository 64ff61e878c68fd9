// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <utility>

#include "zkrecipes/connection_options.h"

namespace zkrecipes {

Acl::Acl() : entries_{{kAll, "world", "anyone"}} {}

Acl::Acl(std::vector<Entry> entries) : entries_(std::move(entries)) {
  if (entries_.empty())
    throw std::invalid_argument("zkrecipes: an Acl without entries would make nodes that nobody can remove");
  for (const Entry& entry : entries_) {
    if (entry.scheme.empty()) throw std::invalid_argument("zkrecipes: an Acl entry has no scheme");
    if (entry.permissions <= 0 || entry.permissions > kAll)
      throw std::invalid_argument("zkrecipes: Acl permissions must be a combination of kRead ... kAdmin");
  }
}

Acl Acl::open() {
  return Acl();
}

Acl Acl::creator_all() {
  return Acl({{kAll, "auth", ""}});
}

}  // namespace zkrecipes
