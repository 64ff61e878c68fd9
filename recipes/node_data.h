// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "zkrecipes/fencing_token.h"

namespace zkrecipes::recipes {

// The data of a lock node: who made it, for people, and in two kinds of nodes a last line for programs. Peers write
// whatever they like.

/// A SimpleLock's node: the guid stands in the last line, because the name has no room for it.
std::string data_with_guid(const std::string& identity, const std::string& guid);
/// A read node that took a write node's place: the hold keeps the token of the write node.
std::string data_with_token(const std::string& identity, const FencingToken& token);

/// Empty once a revocation request has overwritten it.
std::string_view identity_in(std::string_view data);
std::optional<FencingToken> token_in(std::string_view data);

/// Whether the data are a request to give the lock up: Curator's or ours.
bool asks_to_revoke(std::string_view data);
/// The request to write over `data`. It keeps the line for programs where there is one; all other nodes get exactly
/// what Curator expects.
std::string revoke_request_for(std::string_view data);

}  // namespace zkrecipes::recipes
