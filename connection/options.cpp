// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "connection/acl.h"
#include "zkrecipes/connection_options.h"

namespace zkrecipes {

namespace {

void check(const Acl::Entry& entry) {
  if (entry.scheme.empty()) throw std::invalid_argument("zkrecipes: an Acl entry has no scheme");
  if (entry.permissions <= 0 || entry.permissions > Acl::kAll)
    throw std::invalid_argument("zkrecipes: Acl permissions must be a combination of kRead ... kAdmin");
  // The C client takes C strings, and would cut it off there.
  if (entry.scheme.find('\0') != std::string::npos || entry.id.find('\0') != std::string::npos)
    throw std::invalid_argument("zkrecipes: an Acl entry contains a NUL character");
  if (entry.scheme == "world" && entry.id != "anyone")
    throw std::invalid_argument("zkrecipes: the only id of the Acl scheme \"world\" is \"anyone\"");
  if (entry.scheme == "digest" && entry.id.find(':') == std::string::npos)
    throw std::invalid_argument("zkrecipes: the id of a digest Acl entry must read \"user:hash\"");
}

}  // namespace

Acl::Acl() : entries_{{kAll, "world", "anyone"}} {}

Acl::Acl(std::vector<Entry> entries) : entries_(std::move(entries)) {
  if (entries_.empty())
    throw std::invalid_argument("zkrecipes: an Acl without entries would make nodes that nobody can remove");
  for (const Entry& entry : entries_) check(entry);
}

Acl Acl::open() {
  return Acl();
}

Acl Acl::creator_all() {
  return Acl({{kAll, "auth", ""}});
}

namespace detail {

bool authenticates(const ConnectionOptions& options) {
  return !options.credentials.empty() || options.tls.has_value();
}

void check_acl(const Acl& acl, const std::string& name, bool authenticated) {
  if (acl.entries().empty()) throw std::invalid_argument("zkrecipes: " + name + " was moved from");
  const bool for_creator = std::any_of(acl.entries().begin(), acl.entries().end(),
                                       [](const Acl::Entry& entry) { return entry.scheme == "auth"; });
  if (for_creator && !authenticated)
    throw std::invalid_argument("zkrecipes: " + name +
                                " is for the creator's credentials (Acl::creator_all()), but the connection has none; "
                                "set ConnectionOptions::credentials");
}

}  // namespace detail

}  // namespace zkrecipes
