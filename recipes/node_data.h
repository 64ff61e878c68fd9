// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "zkrecipes/fencing_token.h"

namespace zkrecipes::detail {

// The data of a lock node: lines for people (the identity, and below it the note if there is one), and in two kinds of
// nodes a last line for programs. The line of a note begins with "note=", and line breaks in the note are escaped, so
// no note is taken for a line for programs. Peers write whatever they like.

/// The lines for people. The identity is one line.
std::string data_for_people(const std::string& identity, const std::string& note);
/// A SimpleLock's node: the guid stands in the last line, because the name has no room for it.
std::string data_with_guid(const std::string& for_people, const std::string& guid);
/// A read node that took a write node's place: the hold keeps the token of the write node.
std::string data_with_token(const std::string& for_people, const FencingToken& token);

/// Empty once a revocation request has overwritten it.
std::string_view identity_in(std::string_view data);
/// Empty when there is none, and once a revocation request has overwritten it.
std::string note_in(std::string_view data);
std::optional<FencingToken> token_in(std::string_view data);
/// Whether the last line is a guid, as in a SimpleLock's node.
bool has_guid(std::string_view data);

/// Whether the data are a request to give the lock up: Curator's or ours.
bool asks_to_revoke(std::string_view data);
/// The request to write over `data`. It keeps the line for programs where there is one; all other nodes get exactly
/// what Curator expects.
std::string revoke_request_for(std::string_view data);

}  // namespace zkrecipes::detail
